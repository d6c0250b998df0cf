# Turns each line of names.txt into a row of the table in names.c; see names.txt for the columns. An
# incomplete line stays as it is, and does not compile.
/^#/d
/^$/d
s/^secret-if-key  /NAMES_SECRET_IF_KEY  /
s/^secret-if-found  /NAMES_SECRET_IF_FOUND  /
s/^secret-or-certificate  /NAMES_SECRET_OR_CERTIFICATE  /
s/^secret  /NAMES_SECRET  /
s/^alone  /NAMES_ALONE  /
s/^start  /NAMES_START  /
s/^ci  /NAMES_CI  /
s;^\(NAMES_[A-Z_]*\)  *\([^ ]*/\)*\([^ /][^ /]*\)\(/*\)   *\([^ ]\([^ ]\| [^ ]\)*\)   *\(https://[^ ]*\|man:[^ ]*([0-9])\|docs/[^ ]*\.md\)$;{ \1, "\2", "\3", "\4", "\5" },;
