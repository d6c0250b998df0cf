#!/bin/sh
# Prints C arrays of files, whatever their bytes are, and the table `files`.
#
#   embed.sh FILE...
set -eu

number=0
for file; do
	echo "static const unsigned char file_${number}[] = {"
	od -An -v -tx1 "$file" | sed 's/ \(..\)/0x\1,/g'
	echo '};'
	number=$((number + 1))
done
echo 'static const struct file files[] = {'
number=0
for file; do
	echo "	{ \"${file##*/}\", file_${number}, sizeof file_${number} },"
	number=$((number + 1))
done
echo '};'
