# Turns each line of a text into a C string literal.
s/[\"]/\\&/g
s/.*/"&\\n"/
