/*
 * A fuzz target is a function that must survive any bytes. libFuzzer drives it (make fuzz); the
 * unit tests replay its corpus.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

typedef void fuzz_fn(const uint8_t *data, size_t size);

fuzz_fn fuzz_adapter_claude;
fuzz_fn fuzz_adapter_codex;
fuzz_fn fuzz_adapter_gemini;
fuzz_fn fuzz_adapter_opencode;
fuzz_fn fuzz_agent_events;
fuzz_fn fuzz_blocked;
fuzz_fn fuzz_canvas;
fuzz_fn fuzz_check_output;
fuzz_fn fuzz_config;
fuzz_fn fuzz_control;
fuzz_fn fuzz_conversation;
fuzz_fn fuzz_credential;
fuzz_fn fuzz_detect;
fuzz_fn fuzz_devcontainer;
fuzz_fn fuzz_fence_spec;
fuzz_fn fuzz_fsck;
fuzz_fn fuzz_gitconfig;
fuzz_fn fuzz_gitdir;
fuzz_fn fuzz_hosts;
fuzz_fn fuzz_pins;
fuzz_fn fuzz_html;
fuzz_fn fuzz_http;
fuzz_fn fuzz_httpclient;
fuzz_fn fuzz_https_wire;
fuzz_fn fuzz_ignore;
fuzz_fn fuzz_ignore_rules;
fuzz_fn fuzz_index_read;
fuzz_fn fuzz_jsonline;
fuzz_fn fuzz_land_forge;
fuzz_fn fuzz_land_gh;
fuzz_fn fuzz_land_patch;
fuzz_fn fuzz_land_remote;
fuzz_fn fuzz_ledger_sums;
fuzz_fn fuzz_lfs_pointer;
fuzz_fn fuzz_lfs_rules;
fuzz_fn fuzz_live_text;
fuzz_fn fuzz_loop_index;
fuzz_fn fuzz_loop_state;
fuzz_fn fuzz_manifest;
fuzz_fn fuzz_markdown;
fuzz_fn fuzz_mask;
fuzz_fn fuzz_mutant;
fuzz_fn fuzz_order;
fuzz_fn fuzz_owner_protocol;
fuzz_fn fuzz_packread;
fuzz_fn fuzz_pattern;
fuzz_fn fuzz_price;
fuzz_fn fuzz_promise;
fuzz_fn fuzz_refs;
fuzz_fn fuzz_replace;
fuzz_fn fuzz_reply;
fuzz_fn fuzz_request;
fuzz_fn fuzz_reset;
fuzz_fn fuzz_review;
fuzz_fn fuzz_rule;
fuzz_fn fuzz_run_record;
fuzz_fn fuzz_secret;
fuzz_fn fuzz_shape;
fuzz_fn fuzz_shell;
fuzz_fn fuzz_socks;
fuzz_fn fuzz_tape;
fuzz_fn fuzz_terminal;
fuzz_fn fuzz_text;
fuzz_fn fuzz_tls_hello;
fuzz_fn fuzz_usage;
fuzz_fn fuzz_web_body;
fuzz_fn fuzz_web_query;
fuzz_fn fuzz_worklist;
fuzz_fn fuzz_verdict;
fuzz_fn fuzz_view_transcript;

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
