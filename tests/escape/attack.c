/*
 * attack NAME [ARG...]: exits with 0 if the act succeeded, 1 if it was denied (the errno's name is
 * printed), 2 on misuse. Linked statically, so that it runs in any fence that shows it a file.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "attack.h"

static const struct attack *const tables[] = {
	attack_files, attack_kernel, attack_process, attack_net, attack_notice, attack_step,
};

#define TABLES (sizeof(tables) / sizeof(tables[0]))

static const struct attack *find(const char *name)
{
	for (size_t i = 0; i < TABLES; i++)
		for (const struct attack *a = tables[i]; a->name; a++)
			if (strcmp(a->name, name) == 0)
				return a;
	return NULL;
}

static int usage(void)
{
	for (size_t i = 0; i < TABLES; i++)
		for (const struct attack *a = tables[i]; a->name; a++)
			fprintf(stderr, "attack %s %s\n", a->name, a->args);
	return 2;
}

int main(int argc, char **argv)
{
	const struct attack *a = argc < 2 ? NULL : find(argv[1]);
	int verdict;

	if (!a || argc - 2 < a->min_args)
		return usage();
	verdict = a->act(argc - 2, argv + 2);
	if (verdict == ATTACK_MISUSE)
		return usage();
	if (verdict) {
		const char *name = strerrorname_np(verdict);

		printf("denied: %s\n", name ? name : "?");
		return 1;
	}
	printf("succeeded\n");
	return 0;
}
