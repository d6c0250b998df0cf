/* TLS to servers: see tls.h. */
#include "gateway/model/tls.h"

#include "util/mem.h"

#include <errno.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>

struct tls {
	SSL_CTX *context;
};

struct tls_link {
	SSL *ssl;
	struct tls_memory *memory;
	bool broken; /* nothing may be sent any more, not even close_notify */
	char wrong[256];
};

static const char *const folders[] = { "/etc/ssl/certs", "/etc/pki/tls/certs" };
static const char *const bundles[] = { "/etc/ssl/certs/ca-certificates.crt",
				       "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem" };

/* Keeps the session for the next connection. */
static int keep_session(SSL *ssl, SSL_SESSION *session)
{
	struct tls_link *link = SSL_get_app_data(ssl);

	if (link->memory->session)
		SSL_SESSION_free(link->memory->session);
	link->memory->session = session;
	return 1; /* we keep the reference */
}

static int load(SSL_CTX *context, const char *path, struct error *err)
{
	struct stat status;

	if (stat(path, &status) < 0)
		return error_sys(err, "open the CA certificates '%s'", path);
	if (S_ISDIR(status.st_mode) ? SSL_CTX_load_verify_dir(context, path) != 1
				    : SSL_CTX_load_verify_file(context, path) != 1)
		return error_set(err, "'%s' contains no readable certificates", path);
	return 0;
}

/* A folder of certificates indexed by hash, as in Debian and its derivatives. */
static int load_system(SSL_CTX *context, struct error *err)
{
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		AUTO_FREE char *probe = mem_format("%s/ca-certificates.crt", folders[i]);
		struct stat status;

		if (stat(folders[i], &status) == 0 && stat(probe, &status) == 0)
			return load(context, folders[i], err);
	}
	for (size_t i = 0; i < sizeof bundles / sizeof *bundles; i++)
		if (load(context, bundles[i], err) == 0)
			return 0;
	return error_set(err, "there are no CA certificates on this machine; install the package "
			      "ca-certificates");
}

int tls_new(const char *ca, struct tls **ret_tls, struct error *err)
{
	static const unsigned char protocols[] = "\x08http/1.1";
	struct tls *tls = mem_zero(sizeof *tls);

	OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, NULL);
	tls->context = SSL_CTX_new(TLS_client_method());
	if (!tls->context) {
		free(tls);
		return error_set(err, "OpenSSL cannot be initialised");
	}
	if ((ca[0] ? load(tls->context, ca, err) : load_system(tls->context, err)) < 0) {
		SSL_CTX_free(tls->context);
		free(tls);
		return -1;
	}
	SSL_CTX_set_min_proto_version(tls->context, TLS1_2_VERSION);
	SSL_CTX_set_verify(tls->context, SSL_VERIFY_PEER, NULL);
	SSL_CTX_set_alpn_protos(tls->context, protocols, sizeof protocols - 1);
	SSL_CTX_set_mode(tls->context, SSL_MODE_ENABLE_PARTIAL_WRITE |
					       SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
					       SSL_MODE_RELEASE_BUFFERS);
	SSL_CTX_set_read_ahead(tls->context, 1); /* read a record at once, not its header first */
	SSL_CTX_set_session_cache_mode(tls->context,
				       SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
	SSL_CTX_sess_set_new_cb(tls->context, keep_session);
	*ret_tls = tls;
	return 0;
}

struct tls_link *tls_link_new(struct tls *tls, int fd, const char *host, bool is_address,
			      struct tls_memory *memory)
{
	struct tls_link *link = mem_zero(sizeof *link);
	X509_VERIFY_PARAM *expected;

	link->memory = memory;
	link->ssl = SSL_new(tls->context);
	if (!link->ssl)
		abort(); /* out of memory */
	expected = SSL_get0_param(link->ssl);
	SSL_set_app_data(link->ssl, link);
	SSL_set_connect_state(link->ssl);
	if (is_address) {
		X509_VERIFY_PARAM_set1_ip_asc(expected, host);
	} else {
		X509_VERIFY_PARAM_set_hostflags(expected, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
		SSL_set1_host(link->ssl, host);
		SSL_set_tlsext_host_name(link->ssl, host);
	}
	if (memory->session)
		SSL_set_session(link->ssl, memory->session);
	if (SSL_set_fd(link->ssl, fd) != 1)
		abort();
	return link;
}

void tls_link_free(struct tls_link *link)
{
	if (!link)
		return;
	ERR_clear_error();
	if (!link->broken && SSL_is_init_finished(link->ssl))
		SSL_shutdown(link->ssl);
	SSL_free(link->ssl);
	ERR_clear_error();
	free(link);
}

static void explain(struct tls_link *link, int saved)
{
	long verdict = SSL_get_verify_result(link->ssl);
	unsigned long code = ERR_peek_error();

	if (verdict != X509_V_OK)
		snprintf(link->wrong, sizeof link->wrong, "its certificate is not trusted: %s",
			 X509_verify_cert_error_string(verdict));
	else if (code)
		snprintf(link->wrong, sizeof link->wrong, "TLS: %s", ERR_reason_error_string(code));
	else if (saved)
		snprintf(link->wrong, sizeof link->wrong, "%s", strerror(saved));
	else
		snprintf(link->wrong, sizeof link->wrong, "it closed the connection");
}

static int judge(struct tls_link *link, int result, uint32_t *ret_events)
{
	int saved = errno;

	switch (SSL_get_error(link->ssl, result)) {
	case SSL_ERROR_WANT_READ:
		*ret_events = EPOLLIN;
		return TLS_AGAIN;
	case SSL_ERROR_WANT_WRITE:
		*ret_events = EPOLLOUT;
		return TLS_AGAIN;
	case SSL_ERROR_ZERO_RETURN:
		return 0;
	default:
		explain(link, saved);
		link->broken = true;
		return TLS_BROKEN;
	}
}

int tls_handshake(struct tls_link *link, uint32_t *ret_events)
{
	int result;

	ERR_clear_error();
	errno = 0;
	result = SSL_do_handshake(link->ssl);
	if (result == 1)
		return 1;
	result = judge(link, result, ret_events);
	if (result == 0) {
		snprintf(link->wrong, sizeof link->wrong, "it closed the connection");
		return TLS_BROKEN;
	}
	return result;
}

ssize_t tls_read(struct tls_link *link, void *bytes, size_t size, uint32_t *ret_events)
{
	int result;

	ERR_clear_error();
	errno = 0;
	result = SSL_read(link->ssl, bytes, size < INT_MAX ? (int)size : INT_MAX);
	return result > 0 ? result : judge(link, result, ret_events);
}

ssize_t tls_write(struct tls_link *link, const void *bytes, size_t size, uint32_t *ret_events)
{
	int result;

	ERR_clear_error();
	errno = 0;
	result = SSL_write(link->ssl, bytes, size < INT_MAX ? (int)size : INT_MAX);
	if (result > 0)
		return result;
	result = judge(link, result, ret_events);
	return result == 0 ? TLS_BROKEN : result;
}

bool tls_pending(const struct tls_link *link)
{
	return SSL_has_pending(link->ssl);
}

const char *tls_wrong(const struct tls_link *link)
{
	return link->wrong;
}
