/* Secrets for ringfence-serve: see web_handover.h. */
#include "serve/web_handover.h"

#include "util/file/fd.h"

#include <string.h>
#include <unistd.h>

int web_handover_write(const struct web_handover *secrets, struct error *err)
{
	int fd = fd_memory("secrets", secrets, sizeof *secrets);

	return fd < 0 ? error_sys(err, "hand over the secrets") : fd;
}

int web_handover_read(int fd, struct web_handover *ret_secrets, struct error *err)
{
	AUTO_FD file = fd;
	ssize_t n = pread(file, ret_secrets, sizeof *ret_secrets, 0);

	if (n != sizeof *ret_secrets ||
	    !web_keys_is_secret(ret_secrets->secret,
				strnlen(ret_secrets->secret, WEB_KEYS_SECRET)) ||
	    strnlen(ret_secrets->token, WEB_KEYS_TOKEN) == WEB_KEYS_TOKEN)
		return error_with(err, ERROR_PROTOCOL, "the secrets of the server are malformed");
	return 0;
}
