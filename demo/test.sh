#!/bin/sh
# What is calculated, and what it must be. The first that goes wrong ends it.
number=0

expect() {
	number=$((number + 1))
	# shellcheck disable=SC2086 # each word is one of rpn's
	got=$(./rpn $1)
	if [ "$got" != "$2" ]; then
		echo "not ok $number - $1 should be $2, and is $got"
		exit 1
	fi
	echo "ok $number - $1 is $2"
}

set -f # a star is an operator here
echo 1..5
expect '3 4 +' 7
expect '6 7 *' 42
expect '10 4 -' 6
expect '12 4 /' 3
expect '1 2 3 * +' 7
