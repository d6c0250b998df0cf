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
	replay("fuzz_answer", fuzz_answer);
	replay("fuzz_change", fuzz_change);
	replay("fuzz_claude", fuzz_claude);
	replay("fuzz_codex", fuzz_codex);
	replay("fuzz_config", fuzz_config);
	replay("fuzz_control", fuzz_control);
	replay("fuzz_events", fuzz_events);
	replay("fuzz_gateway_config", fuzz_gateway_config);
	replay("fuzz_gateway_hello", fuzz_gateway_hello);
	replay("fuzz_gateway_http", fuzz_gateway_http);
	replay("fuzz_gateway_rule", fuzz_gateway_rule);
	replay("fuzz_gateway_socks", fuzz_gateway_socks);
	replay("fuzz_gemini", fuzz_gemini);
	replay("fuzz_gitconfig", fuzz_gitconfig);
	replay("fuzz_gitobject", fuzz_gitobject);
	replay("fuzz_gitpack", fuzz_gitpack);
	replay("fuzz_gitrefs", fuzz_gitrefs);
	replay("fuzz_hosts", fuzz_hosts);
	replay("fuzz_ignore", fuzz_ignore);
	replay("fuzz_journal", fuzz_journal);
	replay("fuzz_limit", fuzz_limit);
	replay("fuzz_listen", fuzz_listen);
	replay("fuzz_manifest", fuzz_manifest);
	replay("fuzz_mask", fuzz_mask);
	replay("fuzz_message", fuzz_message);
	replay("fuzz_opencode", fuzz_opencode);
	replay("fuzz_order", fuzz_order);
	replay("fuzz_output", fuzz_output);
	replay("fuzz_pattern", fuzz_pattern);
	replay("fuzz_place", fuzz_place);
	replay("fuzz_price", fuzz_price);
	replay("fuzz_record", fuzz_record);
	replay("fuzz_request", fuzz_request);
	replay("fuzz_reset", fuzz_reset);
	replay("fuzz_rules", fuzz_rules);
	replay("fuzz_scan", fuzz_scan);
	replay("fuzz_talk", fuzz_talk);
	replay("fuzz_tape", fuzz_tape);
	replay("fuzz_terminal", fuzz_terminal);
	replay("fuzz_text", fuzz_text);
	replay("fuzz_usage", fuzz_usage);
	replay("fuzz_verdict", fuzz_verdict);
	return unit_failures > 0;
}
