/*
 * Where notifications go: one target each, as the setting `notify` has it.
 *
 *	desktop
 *	slack SECRET			the secret is the webhook's address
 *	discord SECRET
 *	webhook SECRET [TOKEN]		an address, and a token for `Authorization: Bearer`
 *	ntfy SECRET [TOKEN]		the address of a topic
 *	telegram CHAT SECRET		the bot's token, or an address that ends with it
 *	mail ADDRESS
 *	command PROGRAM ARGUMENT...
 *
 * A secret is `file:PATH` or `env:NAME`, never the secret itself.
 */
#ifndef NOTIFY_NOTIFY_TARGET_H
#define NOTIFY_NOTIFY_TARGET_H

#include "provider/key_source.h"
#include "util/error.h"
#include "util/list.h"
#include "util/taint.h"

#define NOTIFY_TARGETS(X) \
	X(desktop) X(slack) X(discord) X(webhook) X(ntfy) X(telegram) X(mail) X(command)

enum notify_target_kind {
#define NOTIFY_TARGET(name) NOTIFY_TARGET_##name,
	NOTIFY_TARGETS(NOTIFY_TARGET)
#undef NOTIFY_TARGET
		NOTIFY_TARGET_COUNT
};

struct notify_target {
	enum notify_target_kind kind;
	struct key_source secret, token; /* or KEY_SOURCE_NONE */
	char *address;                   /* of mail, or a chat; or NULL */
	struct list arguments;           /* of a command, with its program */
};

/* Reads a target; `home` replaces "~" in file:~/PATH. Returns 0, or -1 with err set, which never
 * quotes what may be a secret. */
int notify_target_read(const char *text, const char *home, struct notify_target *ret_target,
		       struct error *err);
void notify_target_release(struct notify_target *target);

/* Refuses a secret or a program that an agent can change. Returns 0, or -1 with err set. */
int notify_target_check(const struct notify_target *target, const struct taint *taint,
			struct error *err);

/* Returns the target for people and logs, without what may be a secret. The caller frees it. */
char *notify_target_shown(const struct notify_target *target);

const char *notify_target_name(enum notify_target_kind kind);

#endif
