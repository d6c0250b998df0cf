rpn: rpn.c
	cc -Wall -o rpn rpn.c

check: rpn
	@sh test.sh

.PHONY: check
