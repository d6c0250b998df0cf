/* The head of a journal: see journal_head.h. */
#include "journal/journal_head.h"

#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/* "00000000000000000012 HASH\n": always as long, so that it is overwritten in one piece. */
enum { NUMBER = 20, LENGTH = NUMBER + 1 + SHA256_HEX };

static int open_head(const char *path, int flags)
{
	AUTO_FREE char *head = mem_format("%.*sjournal.head", (int)(path_name(path) - path), path);

	return open(head, flags | O_NOFOLLOW | O_CLOEXEC, 0600);
}

void journal_head_read(const char *path, struct journal_head *ret_head)
{
	AUTO_FD fd = open_head(path, O_RDONLY | O_NONBLOCK);
	char text[LENGTH + 1] = "";

	*ret_head = (struct journal_head){ 0 };
	if (fd < 0 || flock(fd, LOCK_SH) < 0 || read(fd, text, LENGTH) != LENGTH ||
	    text[NUMBER] != ' ' || text[LENGTH - 1] != '\n' || strspn(text, "0123456789") != NUMBER)
		return;
	ret_head->seq = strtoll(text, NULL, 10);
	memcpy(ret_head->hash, text + NUMBER + 1, SHA256_HEX - 1);
}

void journal_head_write(const char *path, int64_t seq, const char *hash)
{
	AUTO_FREE char *text = mem_format("%0*lld %s\n", NUMBER, (long long)seq, hash);
	AUTO_FD fd = open_head(path, O_WRONLY | O_CREAT);

	/* The lock keeps a reader from seeing half a record. */
	if (fd < 0 || flock(fd, LOCK_EX) < 0 || pwrite(fd, text, LENGTH, 0) != LENGTH)
		return; /* the old head stays, which proves less */
}
