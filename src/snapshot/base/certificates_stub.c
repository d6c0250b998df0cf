/*
 * libgit2, when built with mbedTLS, parses the system's whole certificate bundle at startup, which
 * takes about 6 ms per checkpoint. This program uses no network. Its own definition is found before
 * the library's and reports that there is no such file. An archive's is replaced by the linker
 * (--wrap).
 */
int __wrap_mbedtls_x509_crt_parse_file(void *chain, const char *path);
int mbedtls_x509_crt_parse_file(void *chain, const char *path)
	__attribute__((weak, alias("__wrap_mbedtls_x509_crt_parse_file")));

int __wrap_mbedtls_x509_crt_parse_file(void *chain, const char *path)
{
	(void)chain;
	(void)path;
	return -1;
}
