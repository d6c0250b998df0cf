/*
 * A fuzz target is a function that must survive any bytes. libFuzzer drives it (make fuzz); the
 * unit tests replay its corpus.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

typedef void fuzz_fn(const uint8_t *data, size_t size);

fuzz_fn fuzz_answer;
fuzz_fn fuzz_change;
fuzz_fn fuzz_claude;
fuzz_fn fuzz_codex;
fuzz_fn fuzz_config;
fuzz_fn fuzz_control;
fuzz_fn fuzz_events;
fuzz_fn fuzz_gateway_config;
fuzz_fn fuzz_gateway_hello;
fuzz_fn fuzz_gateway_http;
fuzz_fn fuzz_gateway_rule;
fuzz_fn fuzz_gateway_socks;
fuzz_fn fuzz_gemini;
fuzz_fn fuzz_gitconfig;
fuzz_fn fuzz_gitobject;
fuzz_fn fuzz_gitpack;
fuzz_fn fuzz_gitrefs;
fuzz_fn fuzz_hosts;
fuzz_fn fuzz_ignore;
fuzz_fn fuzz_journal;
fuzz_fn fuzz_limit;
fuzz_fn fuzz_listen;
fuzz_fn fuzz_manifest;
fuzz_fn fuzz_mask;
fuzz_fn fuzz_message;
fuzz_fn fuzz_opencode;
fuzz_fn fuzz_order;
fuzz_fn fuzz_output;
fuzz_fn fuzz_pattern;
fuzz_fn fuzz_place;
fuzz_fn fuzz_price;
fuzz_fn fuzz_record;
fuzz_fn fuzz_request;
fuzz_fn fuzz_reset;
fuzz_fn fuzz_rules;
fuzz_fn fuzz_scan;
fuzz_fn fuzz_talk;
fuzz_fn fuzz_tape;
fuzz_fn fuzz_terminal;
fuzz_fn fuzz_text;
fuzz_fn fuzz_usage;
fuzz_fn fuzz_verdict;

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
