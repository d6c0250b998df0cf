/* A calculator for people who write the operator last: rpn 3 4 + */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 64 };

static double stack[DEPTH];
static int depth;

static void push(double value)
{
	if (depth == DEPTH) {
		fputs("rpn: too deep\n", stderr);
		exit(2);
	}
	stack[depth++] = value;
}

static double pop(void)
{
	if (depth == 0) {
		fputs("rpn: a number is missing\n", stderr);
		exit(2);
	}
	return stack[--depth];
}

static void calculate(char operator)
{
	double a = pop();
	double b = pop();

	switch (operator) {
	case '+':
		push(a + b);
		break;
	case '-':
		push(a - b);
		break;
	case '*':
		push(a * b);
		break;
	case '/':
		push(a / b);
		break;
	}
}

int main(int count, char **words)
{
	for (int i = 1; i < count; i++) {
		if (strlen(words[i]) == 1 && strchr("+-*/", words[i][0]))
			calculate(words[i][0]);
		else
			push(atof(words[i]));
	}
	printf("%g\n", pop());
	return 0;
}
