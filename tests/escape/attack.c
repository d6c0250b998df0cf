/*
 * attack NAME [ARG...]: exits with 0 if the act succeeded, 1 if it was denied (the errno's name is
 * printed), 2 on misuse. Linked statically, so that it runs in any fence that shows it a file, and
 * with musl, so that it is small: each test has a copy in its project, which checkpoints, commits
 * and sweeps read.
 */
#include <stdio.h>
#include <string.h>

#include "attack.h"

static const struct attack *const tables[] = {
	attack_files, attack_kernel, attack_process, attack_net, attack_notice, attack_step,
};

#define TABLES (sizeof(tables) / sizeof(tables[0]))

#define NAME(number) [number] = #number

static const char *const errno_names[] = {
	NAME(EPERM),
	NAME(ENOENT),
	NAME(ESRCH),
	NAME(EINTR),
	NAME(EIO),
	NAME(ENXIO),
	NAME(E2BIG),
	NAME(ENOEXEC),
	NAME(EBADF),
	NAME(ECHILD),
	NAME(EAGAIN),
	NAME(ENOMEM),
	NAME(EACCES),
	NAME(EFAULT),
	NAME(ENOTBLK),
	NAME(EBUSY),
	NAME(EEXIST),
	NAME(EXDEV),
	NAME(ENODEV),
	NAME(ENOTDIR),
	NAME(EISDIR),
	NAME(EINVAL),
	NAME(ENFILE),
	NAME(EMFILE),
	NAME(ENOTTY),
	NAME(ETXTBSY),
	NAME(EFBIG),
	NAME(ENOSPC),
	NAME(ESPIPE),
	NAME(EROFS),
	NAME(EMLINK),
	NAME(EPIPE),
	NAME(EDOM),
	NAME(ERANGE),
	NAME(EDEADLK),
	NAME(ENAMETOOLONG),
	NAME(ENOLCK),
	NAME(ENOSYS),
	NAME(ENOTEMPTY),
	NAME(ELOOP),
	NAME(ENODATA),
	NAME(EPROTO),
	NAME(EOVERFLOW),
	NAME(ENOTSOCK),
	NAME(EDESTADDRREQ),
	NAME(EMSGSIZE),
	NAME(EPROTOTYPE),
	NAME(ENOPROTOOPT),
	NAME(EPROTONOSUPPORT),
	NAME(ESOCKTNOSUPPORT),
	NAME(EOPNOTSUPP),
	NAME(EPFNOSUPPORT),
	NAME(EAFNOSUPPORT),
	NAME(EADDRINUSE),
	NAME(EADDRNOTAVAIL),
	NAME(ENETDOWN),
	NAME(ENETUNREACH),
	NAME(ENETRESET),
	NAME(ECONNABORTED),
	NAME(ECONNRESET),
	NAME(ENOBUFS),
	NAME(EISCONN),
	NAME(ENOTCONN),
	NAME(ETIMEDOUT),
	NAME(ECONNREFUSED),
	NAME(EHOSTDOWN),
	NAME(EHOSTUNREACH),
	NAME(EALREADY),
	NAME(EINPROGRESS),
	NAME(ESTALE),
	NAME(EDQUOT),
	NAME(ECANCELED),
	NAME(ENOKEY),
	NAME(EKEYEXPIRED),
	NAME(EKEYREVOKED),
	NAME(EKEYREJECTED),
};

#define NAMES ((int)(sizeof(errno_names) / sizeof(errno_names[0])))

const char *attack_errno_name(int number)
{
	return number >= 0 && number < NAMES && errno_names[number] ? errno_names[number] : "?";
}

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
		printf("denied: %s\n", attack_errno_name(verdict));
		return 1;
	}
	printf("succeeded\n");
	return 0;
}
