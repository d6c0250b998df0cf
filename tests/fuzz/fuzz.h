/*
 * A fuzz target is a function that must survive any bytes. libFuzzer drives it (make fuzz); the
 * unit tests replay what is in its corpus.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

typedef void fuzz_fn(const uint8_t *data, size_t size);

fuzz_fn fuzz_config, fuzz_gateway_config, fuzz_gateway_hello, fuzz_gateway_http, fuzz_gateway_rule,
	fuzz_gateway_socks, fuzz_gitconfig, fuzz_hosts, fuzz_ignore, fuzz_limit, fuzz_listen,
	fuzz_message, fuzz_order, fuzz_output, fuzz_price, fuzz_record, fuzz_request, fuzz_reset,
	fuzz_text, fuzz_usage, fuzz_verdict;

#ifdef FUZZING
#define FUZZ_TARGET(name)                                             \
	int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size); \
	int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)  \
	{                                                             \
		name(data, size);                                     \
		return 0;                                             \
	}
#else
#define FUZZ_TARGET(name)
#endif

#endif
