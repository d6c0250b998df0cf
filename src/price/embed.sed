# Makes lines of C strings of the lines of a text.
s/[\"]/\\&/g
s/.*/"&\\n"/
