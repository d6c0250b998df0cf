/* Targets: see notify_target.h. */
#include "notify/notify_target.h"

#include "util/mem.h"
#include "util/process.h"

#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 32 };

/* How many words of each kind may follow the name of a target. */
static const struct kind {
	const char *name;
	bool address;        /* the first word */
	int secrets, tokens; /* needed, and possible besides */
	const char *usage;
} kinds[] = {
	[NOTIFY_TARGET_desktop] = { "desktop", false, 0, 0, "desktop" },
	[NOTIFY_TARGET_slack] = { "slack", false, 1, 0, "slack SECRET" },
	[NOTIFY_TARGET_discord] = { "discord", false, 1, 0, "discord SECRET" },
	[NOTIFY_TARGET_webhook] = { "webhook", false, 1, 1, "webhook SECRET [TOKEN]" },
	[NOTIFY_TARGET_ntfy] = { "ntfy", false, 1, 1, "ntfy SECRET [TOKEN]" },
	[NOTIFY_TARGET_telegram] = { "telegram", true, 1, 0, "telegram CHAT SECRET" },
	[NOTIFY_TARGET_mail] = { "mail", true, 0, 0, "mail ADDRESS" },
	[NOTIFY_TARGET_command] = { "command", false, 0, 0, "command PROGRAM [ARGUMENT...]" },
};

/* The names, for a message. */
#define NOTIFY_TARGET(name) #name " "
static const char all_names[] = NOTIFY_TARGETS(NOTIFY_TARGET);
#undef NOTIFY_TARGET

const char *notify_target_name(enum notify_target_kind kind)
{
	return kinds[kind].name;
}

static int find_kind(const char *name)
{
	for (int i = 0; i < NOTIFY_TARGET_COUNT; i++)
		if (strcmp(kinds[i].name, name) == 0)
			return i;
	return -1;
}

static int refuse_usage(const struct kind *kind, struct error *err)
{
	return error_set(err, "use '%s'%s", kind->usage,
			 kind->secrets ? ", where a secret is file:PATH or env:NAME" : "");
}

static int read_secret(const struct kind *kind, const char *word, const char *home,
		       struct key_source *ret_source, struct error *err)
{
	AUTO_FREE char *text = strncmp(word, "file:~/", 7) == 0
				       ? mem_format("file:%s/%s", home, word + 7)
				       : mem_dup(word);
	struct error ignored;

	if (key_source_parse(text, ret_source, &ignored) < 0)
		return error_set(err,
				 "'%s' takes its address or token from file:PATH or env:NAME, "
				 "because it is a secret: never write it here",
				 kind->name);
	if (ret_source->kind != KEY_SOURCE_COMMAND)
		return 0;
	key_source_release(ret_source);
	return refuse_usage(kind, err);
}

/* An address becomes a header of a mail, and an argument. */
static bool is_address(const char *text)
{
	size_t size = strlen(text);

	for (size_t i = 0; i < size; i++)
		if ((unsigned char)text[i] <= ' ' || text[i] == 127 || strchr(",;<>\"'()", text[i]))
			return false;
	return size > 0 && size < 255 && text[0] != '-';
}

/* A chat's number, or @channel. */
static bool is_chat(const char *text)
{
	static const char digits[] = "0123456789";
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
	const char *number = text + (*text == '-');

	return *text == '@' ? text[1] && !text[1 + strspn(text + 1, letters)]
			    : *number && !number[strspn(number, digits)];
}

static int read_address(enum notify_target_kind kind, const char *word, char **ret_address,
			struct error *err)
{
	if (kind == NOTIFY_TARGET_mail ? !is_address(word) : !is_chat(word))
		return error_set(err, "'%s' needs %s", kinds[kind].name,
				 kind == NOTIFY_TARGET_mail
					 ? "a mail address without a name"
					 : "a chat's number, or @channel, before the secret");
	*ret_address = mem_dup(word);
	return 0;
}

static void split(const char *text, struct list *words)
{
	AUTO_FREE char *copy = mem_dup(text);
	char *rest = copy;

	for (char *word; (word = strtok_r(rest, " ", &rest));)
		list_add(words, word);
}

static int read_words(const struct list *words, const char *home, struct notify_target *target,
		      struct error *err)
{
	const struct kind *kind = &kinds[target->kind];
	size_t least = 1 + kind->address + (size_t)kind->secrets;
	char *const *at = words->items + 1;

	if (target->kind == NOTIFY_TARGET_command) {
		for (size_t i = 1; i < words->count; i++)
			list_add(&target->arguments, words->items[i]);
		return words->count > 1 ? 0 : refuse_usage(kind, err);
	}
	if (words->count < least || words->count > least + (size_t)kind->tokens)
		return refuse_usage(kind, err);
	if (kind->address && read_address(target->kind, *at++, &target->address, err) < 0)
		return -1;
	if (kind->secrets && read_secret(kind, *at++, home, &target->secret, err) < 0)
		return -1;
	return words->count > least ? read_secret(kind, *at, home, &target->token, err) : 0;
}

int notify_target_read(const char *text, const char *home, struct notify_target *ret_target,
		       struct error *err)
{
	struct notify_target target = { 0 };
	struct list words = { 0 };
	int kind;
	int result;

	split(text, &words);
	kind = words.count ? find_kind(words.items[0]) : -1;
	target.kind = (enum notify_target_kind)kind;
	if (kind < 0)
		result = error_set(err,
				   "a target begins with one of: %s(see docs/notifications.md)",
				   all_names);
	else if (words.count > WORDS_MAX)
		result = error_set(err, "a target has at most %d words", WORDS_MAX);
	else
		result = read_words(&words, home, &target, err);
	list_release(&words);
	if (result < 0)
		notify_target_release(&target);
	else
		*ret_target = target;
	return result;
}

void notify_target_release(struct notify_target *target)
{
	key_source_release(&target->secret);
	key_source_release(&target->token);
	free(target->address);
	list_release(&target->arguments);
	*target = (struct notify_target){ 0 };
}

/* A program by its name is that of the first folder of PATH that no agent can change. */
static int check_program(const char *program, const struct taint *taint, struct error *err)
{
	AUTO_FREE char *safe = NULL;
	AUTO_FREE char *any = NULL;

	if (program[0] == '/')
		return 0;
	if (strchr(program, '/'))
		return error_set(err, "the program of 'command' needs an absolute path, or a name "
				      "in PATH");
	safe = taint_find(taint, program);
	any = safe ? NULL : process_find(program);
	return any ? taint_check_word(taint, any, err) : 0;
}

static int check_file(const struct key_source *source, const struct taint *taint, struct error *err)
{
	return source->kind == KEY_SOURCE_FILE ? taint_check_word(taint, source->value, err) : 0;
}

int notify_target_check(const struct notify_target *target, const struct taint *taint,
			struct error *err)
{
	if (check_file(&target->secret, taint, err) < 0 ||
	    check_file(&target->token, taint, err) < 0 ||
	    (target->arguments.count && check_program(target->arguments.items[0], taint, err) < 0))
		return -1;
	for (size_t i = 0; i < target->arguments.count; i++)
		if (taint_check_word(taint, target->arguments.items[i], err) < 0)
			return -1;
	return 0;
}

char *notify_target_shown(const struct notify_target *target)
{
	AUTO_FREE char *secret = key_source_text(&target->secret);
	AUTO_FREE char *token = key_source_text(&target->token);

	if (target->kind == NOTIFY_TARGET_command)
		return mem_format("command %s%s", target->arguments.items[0],
				  target->arguments.count > 1 ? " ..." : "");
	return mem_format("%s%s%s%s%s%s%s", kinds[target->kind].name, target->address ? " " : "",
			  target->address ? target->address : "", secret ? " " : "",
			  secret ? secret : "", token ? " " : "", token ? token : "");
}
