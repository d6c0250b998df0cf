/* Replays the fuzzers' seeds and findings. */
#include "unit.h"

#include "../fuzz/fuzz.h"

#include "util/buffer.h"
#include "util/file/fd.h"
#include "util/mem.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>

static void replay(const char *name, fuzz_fn *target)
{
	AUTO_FREE char *folder = mem_format("%s/%s", CORPUS, name);
	AUTO_FREE char *sentence = mem_format("the corpus of %s is survived, and there is one",
					      name);
	DIR *dir = opendir(folder);
	unsigned int count = 0;

	for (struct dirent *entry; dir && (entry = readdir(dir));) {
		AUTO_BUFFER struct buffer bytes = BUFFER_INIT(16 << 20);
		AUTO_FD fd = entry->d_name[0] == '.'
				     ? -1
				     : openat(dirfd(dir), entry->d_name, O_RDONLY | O_CLOEXEC);

		if (fd < 0 || fd_read_all(fd, &bytes) < 0)
			continue;
		target((const uint8_t *)buffer_text(&bytes), bytes.used);
		count++;
	}
	if (dir)
		closedir(dir);
	CHECK(sentence, count > 0);
}

int main(void)
{
	replay("fuzz_adapter_claude", fuzz_adapter_claude);
	replay("fuzz_adapter_codex", fuzz_adapter_codex);
	replay("fuzz_adapter_gemini", fuzz_adapter_gemini);
	replay("fuzz_adapter_opencode", fuzz_adapter_opencode);
	replay("fuzz_agent_events", fuzz_agent_events);
	replay("fuzz_blocked", fuzz_blocked);
	replay("fuzz_canvas", fuzz_canvas);
	replay("fuzz_check_output", fuzz_check_output);
	replay("fuzz_config", fuzz_config);
	replay("fuzz_control", fuzz_control);
	replay("fuzz_conversation", fuzz_conversation);
	replay("fuzz_credential", fuzz_credential);
	replay("fuzz_detect", fuzz_detect);
	replay("fuzz_devcontainer", fuzz_devcontainer);
	replay("fuzz_fence_spec", fuzz_fence_spec);
	replay("fuzz_fsck", fuzz_fsck);
	replay("fuzz_gitconfig", fuzz_gitconfig);
	replay("fuzz_gitdir", fuzz_gitdir);
	replay("fuzz_hosts", fuzz_hosts);
	replay("fuzz_pins", fuzz_pins);
	replay("fuzz_html", fuzz_html);
	replay("fuzz_http", fuzz_http);
	replay("fuzz_httpclient", fuzz_httpclient);
	replay("fuzz_https_wire", fuzz_https_wire);
	replay("fuzz_ignore", fuzz_ignore);
	replay("fuzz_ignore_rules", fuzz_ignore_rules);
	replay("fuzz_index_read", fuzz_index_read);
	replay("fuzz_jsonline", fuzz_jsonline);
	replay("fuzz_land_forge", fuzz_land_forge);
	replay("fuzz_land_gh", fuzz_land_gh);
	replay("fuzz_land_patch", fuzz_land_patch);
	replay("fuzz_land_remote", fuzz_land_remote);
	replay("fuzz_ledger_sums", fuzz_ledger_sums);
	replay("fuzz_lfs_pointer", fuzz_lfs_pointer);
	replay("fuzz_lfs_rules", fuzz_lfs_rules);
	replay("fuzz_live_text", fuzz_live_text);
	replay("fuzz_loop_index", fuzz_loop_index);
	replay("fuzz_loop_state", fuzz_loop_state);
	replay("fuzz_manifest", fuzz_manifest);
	replay("fuzz_markdown", fuzz_markdown);
	replay("fuzz_mask", fuzz_mask);
	replay("fuzz_mutant", fuzz_mutant);
	replay("fuzz_order", fuzz_order);
	replay("fuzz_owner_protocol", fuzz_owner_protocol);
	replay("fuzz_packread", fuzz_packread);
	replay("fuzz_pattern", fuzz_pattern);
	replay("fuzz_price", fuzz_price);
	replay("fuzz_promise", fuzz_promise);
	replay("fuzz_refs", fuzz_refs);
	replay("fuzz_replace", fuzz_replace);
	replay("fuzz_reply", fuzz_reply);
	replay("fuzz_request", fuzz_request);
	replay("fuzz_reset", fuzz_reset);
	replay("fuzz_review", fuzz_review);
	replay("fuzz_rule", fuzz_rule);
	replay("fuzz_run_record", fuzz_run_record);
	replay("fuzz_secret", fuzz_secret);
	replay("fuzz_shape", fuzz_shape);
	replay("fuzz_shell", fuzz_shell);
	replay("fuzz_socks", fuzz_socks);
	replay("fuzz_tape", fuzz_tape);
	replay("fuzz_terminal", fuzz_terminal);
	replay("fuzz_text", fuzz_text);
	replay("fuzz_tls_hello", fuzz_tls_hello);
	replay("fuzz_usage", fuzz_usage);
	replay("fuzz_web_body", fuzz_web_body);
	replay("fuzz_web_query", fuzz_web_query);
	replay("fuzz_worklist", fuzz_worklist);
	replay("fuzz_verdict", fuzz_verdict);
	replay("fuzz_view_transcript", fuzz_view_transcript);
	return unit_failures > 0;
}
