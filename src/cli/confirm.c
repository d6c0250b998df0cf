/* Asking for confirmation: see confirm.h. */
#include "cli/confirm.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool confirm_possible(const char *otherwise, struct error *err)
{
	if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
		return true;
	fflush(stdout);
	error_set(err, "cannot ask for confirmation without a terminal; %s", otherwise);
	return false;
}

bool confirm(const struct op_question *question)
{
	char answer[16] = "";

	printf("%s [y/N] ", question->text);
	fflush(stdout);
	return fgets(answer, sizeof answer, stdin) &&
	       (strcmp(answer, "y\n") == 0 || strcmp(answer, "Y\n") == 0 ||
		strcmp(answer, "yes\n") == 0);
}

bool confirm_answer(const struct op_question *question, char token[SHA256_HEX],
		    struct op_answer *ret_answer)
{
	bool yes = confirm(question);

	memcpy(token, question->token, SHA256_HEX);
	*ret_answer = (struct op_answer){ .token = token, .no = !yes };
	return yes;
}
