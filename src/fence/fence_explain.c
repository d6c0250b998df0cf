/* Explaining a plan: see fence_explain.h. */
#include "fence/fence_explain.h"

#include "fence/plan/defaults.h"
#include "fence/watch/verdict.h"
#include "util/mem.h"
#include "util/path.h"
#include "util/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum call_verdict { CALL_ALLOWED, CALL_REFUSED, CALL_ABSENT, CALL_CONDITIONAL };

struct call_fate {
	const char *name;
	enum call_verdict verdict;
};

#include "fates.inc" /* fates; made by filter_gen.c */

static const char executed_words[] = "the host executes it, or reads it as configuration";

#define COUNT(list) (sizeof(list) / sizeof *(list))

static const struct call_fate *find_call(const char *name)
{
	for (size_t i = 0; i < COUNT(fates); i++)
		if (strcmp(fates[i].name, name) == 0)
			return &fates[i];
	return NULL;
}

const char *fence_refused_call(size_t index)
{
	for (size_t i = 0; i < COUNT(fates); i++)
		if (fates[i].verdict == CALL_REFUSED && index-- == 0)
			return fates[i].name;
	return NULL;
}

static void explain_call(const char *name, struct fence_explanation *ret)
{
	static const struct {
		const char *verdict, *note;
	} words[] = {
		[CALL_ALLOWED] = { "allowed", NULL },
		[CALL_REFUSED] = { "refused", "it fails with EPERM; no setting opens it" },
		[CALL_ABSENT] = { "refused",
				  "it fails with ENOSYS, so that programs use the older call" },
		[CALL_CONDITIONAL] = { "conditional",
				       "it is refused with arguments that lead out of the fence: namespaces, "
				       "setuid bits, foreign sockets, typing into a terminal" },
	};
	const struct call_fate *call = find_call(name);
	enum call_verdict fate = call ? call->verdict : CALL_ABSENT;

	ret->about = "syscall";
	ret->subject = mem_dup(name);
	ret->verdict = words[fate].verdict;
	ret->rule = mem_format("syscall %s", name);
	ret->origin = mem_dup("built-in");
	ret->note =
		!call ? mem_dup("no such call is known here; an unknown one does not exist inside")
		: words[fate].note ? mem_dup(words[fate].note)
				   : NULL;
}

/* What is reached is no question of the fence, but of its outlet: whoever asked completes this. */
static void explain_host(const char *question, struct fence_explanation *ret)
{
	ret->about = "host";
	ret->subject = mem_dup(question);
}

static const char *wall_word(enum verdict_wall wall)
{
	static const char *const words[] = {
		[VERDICT_OPEN] = "writable",  [VERDICT_PRIVATE] = "private",
		[VERDICT_FIXED] = "readable", [VERDICT_READ_ONLY] = "readable",
		[VERDICT_HIDDEN] = "hidden",  [VERDICT_OUTSIDE] = "absent",
	};

	return words[wall];
}

/* A path as a person would write it into a file of settings. The caller frees. */
static char *written(const struct fence_plan *plan, const char *path)
{
	const char *home = plan->identity.home;

	if (home[0] && path_within(path, home) && path[strlen(home)])
		return mem_format("~%s", path + strlen(home));
	return mem_dup(path);
}

static void cannot_change(struct fence_explanation *ret, const char *why)
{
	free(ret->note);
	ret->note = mem_dup(why);
	ret->instead = true;
}

/* What could be asked for so that it were otherwise, or why nothing can. */
static void find_change(const struct fence_plan *plan, const struct verdict *verdict,
			const char *path, struct fence_explanation *ret)
{
	bool wants_write = verdict->wall == VERDICT_READ_ONLY;
	struct error why;

	if (verdict->wall == VERDICT_OPEN) {
		ret->change_key = "hide";
	} else if (verdict->wall == VERDICT_FIXED) {
		return;
	} else if (fence_plan_permits(plan, wants_write, path, &why) < 0) {
		cannot_change(ret, why.text);
		return;
	} else if (access(path, F_OK) < 0) {
		cannot_change(ret, "there is no such file on the host");
		return;
	} else {
		ret->change_key = wants_write ? "write" : "read";
	}
	ret->change_value = written(plan, path);
}

static void find_note(const struct verdict *verdict, struct fence_explanation *ret)
{
	bool built_in = verdict->by && !verdict->by->asked && !verdict->by->project;
	const char *part = verdict->by && verdict->by->project
				   ? verdict_protected(ret->subject + strlen(verdict->by->path))
				   : NULL;

	if (ret->note)
		return;
	if (verdict->wall == VERDICT_OPEN && part)
		ret->note = mem_dup("it may be made, and is moved to quarantine after the run");
	else if (verdict->wall == VERDICT_PRIVATE)
		ret->note = mem_dup(
			"the fence has one of its own there, empty at first; the host's is not seen");
	else if (verdict->wall == VERDICT_HIDDEN && built_in)
		ret->note = mem_dup(
			"it looks like a secret; whatever is readable can leave in what the command "
			"writes or says");
	else if (verdict->wall == VERDICT_READ_ONLY && (built_in || part))
		ret->note = mem_dup(
			"the host executes it, or reads it as configuration: what is written there acts "
			"outside of the fence");
}

/* Parts of the system of which only some is in the fence. Returns true if that is the answer. */
static bool explain_partly(const char *path, struct fence_explanation *ret)
{
	bool device = false;

	for (const char *const *at = defaults_devices; *at; at++)
		device = device || strcmp(*at, path) == 0;
	if (path_within(path, "/proc")) {
		ret->verdict = "private";
		ret->note = mem_dup(
			"the fence has its own, with its own processes; the kernel's rights decide there");
	} else if (path_within(path, "/dev") && path[4] && !device &&
		   !path_within(path, "/dev/shm") && !path_within(path, "/dev/pts")) {
		ret->verdict = "absent";
		ret->note = mem_dup("only the devices that every program needs are in the fence");
	} else {
		return false;
	}
	return true;
}

static void explain_path(const struct fence_plan *plan, const char *question, const char *base,
			 struct fence_explanation *ret)
{
	bool at_home = question[0] == '~' && (question[1] == '/' || !question[1]);
	AUTO_FREE char *spelled = at_home ? mem_format("%s%s", plan->identity.home, question + 1)
					  : mem_dup(question);
	AUTO_FREE char *clean = path_absolute(spelled, base);
	char *real = realpath(clean, NULL);
	struct verdict verdict;
	const char *origin = NULL;

	ret->about = "path";
	ret->subject = real ? real : mem_dup(clean);
	verdict = verdict_at(plan, ret->subject);
	if (!verdict.by && path_within(ret->subject, "/etc") && !defaults_etc_shows(ret->subject)) {
		verdict.wall = VERDICT_OUTSIDE;
		ret->note = mem_dup("only public files of /etc are in the fence");
	}
	ret->verdict = wall_word(verdict.wall);
	verdict_name(plan, &verdict, &ret->rule, &origin);
	ret->origin = mem_dup(origin);
	if (!verdict.by && explain_partly(ret->subject, ret))
		return;
	find_change(plan, &verdict, ret->subject, ret);
	find_note(&verdict, ret);
}

void fence_rule_describe(const struct fence_plan *plan, const struct fence_rule *rule,
			 char **ret_rule, const char **ret_origin)
{
	verdict_name(plan, &(struct verdict){ .by = rule }, ret_rule, ret_origin);
}

/* What a denied act needs: 'w', 'r', or nothing that a path could give. */
static char need_of(const char *kind)
{
	static const char *const writes[] = { "write", "create", "remove", "link" };

	for (size_t i = 0; i < COUNT(writes); i++)
		if (strcmp(kind, writes[i]) == 0)
			return 'w';
	return strcmp(kind, "read") == 0 ? 'r' : 0;
}

bool fence_plan_allows(const struct fence_plan *plan, const char *kind, const char *target)
{
	struct verdict verdict;
	char need = need_of(kind);

	if (!need || target[0] != '/')
		return false;
	verdict = verdict_at(plan, target);
	return verdict.wall == VERDICT_OPEN || (need == 'r' && verdict.wall == VERDICT_READ_ONLY);
}

static bool in_home_list(const struct fence_plan *plan, const char *const *list, const char *path)
{
	for (; *list && plan->identity.home[0]; list++) {
		AUTO_FREE char *place = path_join(plan->identity.home, *list);

		if (path_within(path, place))
			return true;
	}
	return false;
}

/* Why something is never offered, whatever a person might still ask for by name; NULL: it may be. */
static const char *never(const struct fence_plan *plan, const struct verdict *verdict,
			 const char *target)
{
	const char *part = verdict_protected(target);
	AUTO_FREE char *shown = text_escaped(target);

	if (strcmp(shown, target) != 0)
		return "its name has characters that cannot be shown";
	if (part)
		return strcmp(part, "secret") == 0 ? "it looks like a secret" : executed_words;
	if (in_home_list(plan, defaults_home_secrets, target))
		return "it holds credentials";
	if (in_home_list(plan, defaults_home_executed, target))
		return executed_words;
	if (verdict->by && !verdict->by->exact && !verdict->by->project)
		return "it is protected by a built-in rule";
	return NULL;
}

/* The path to name: the file itself, or the folder in which an entry is made or removed. */
static char *path_to_name(const char *kind, const char *target)
{
	bool itself = strcmp(kind, "write") == 0 || strcmp(kind, "read") == 0;
	char *path = mem_dup(target);

	if (!itself && strrchr(path, '/') > path)
		*strrchr(path, '/') = '\0';
	return path;
}

static void offer_nothing(struct fence_offer *offer, const char *why)
{
	free(offer->path);
	*offer = (struct fence_offer){ .risk = mem_dup(why) };
}

void fence_offer(const struct fence_plan *plan, const char *kind, const char *named,
		 struct fence_offer *ret_offer)
{
	char need = need_of(kind);
	AUTO_FREE char *clean = path_absolute(named, "/");
	AUTO_FREE char *real = realpath(clean, NULL);
	const char *target = real ? real : clean;
	const char *refusal;
	struct verdict verdict;
	struct error why;

	*ret_offer = (struct fence_offer){ 0 };
	if (!need || named[0] != '/') {
		offer_nothing(ret_offer, "no rule for files allows this");
		return;
	}
	verdict = verdict_at(plan, target);
	ret_offer->path = path_to_name(kind, target);
	if ((refusal = never(plan, &verdict, target)))
		offer_nothing(ret_offer, refusal);
	else if (fence_plan_permits(plan, need == 'w', ret_offer->path, &why) < 0)
		offer_nothing(ret_offer, why.text);
	else if (access(ret_offer->path, F_OK) < 0)
		offer_nothing(ret_offer, "there is no such file or folder on the host");
	else
		ret_offer->key = need == 'w' ? "write" : "read";
	if (!ret_offer->key)
		return;
	ret_offer->risk = mem_dup(
		need == 'r' ? "whatever is there can leave in what a command writes or says"
		: path_within(ret_offer->path, plan->project)
			? "this file holds for all projects: a command of any of them can change or delete it"
			: "outside of the project: a command of any of your projects can change or delete it");
}

void fence_offer_release(struct fence_offer *offer)
{
	free(offer->path);
	free(offer->risk);
}

/* NAME:PORT, with or without a dot in it. */
static bool has_port(const char *text)
{
	const char *colon = strrchr(text, ':');

	return colon && colon > text && colon[1] &&
	       strspn(colon + 1, "0123456789") == strlen(colon + 1) && !strchr(text, '/');
}

static bool is_host(const char *text)
{
	return has_port(text) || strstr(text, "://") || strcmp(text, "localhost") == 0;
}

static bool looks_like_host(const char *text)
{
	return strchr(text, '.') && !strchr(text, '/') && isalnum((unsigned char)text[0]);
}

void fence_explain(const struct fence_plan *plan, const char *question, const char *base,
		   struct fence_explanation *ret_explanation)
{
	AUTO_FREE char *here = path_absolute(question, base);

	*ret_explanation = (struct fence_explanation){ 0 };
	if (strncmp(question, "path:", 5) == 0)
		explain_path(plan, question + 5, base, ret_explanation);
	else if (strncmp(question, "host:", 5) == 0)
		explain_host(question + 5, ret_explanation);
	else if (strncmp(question, "syscall:", 8) == 0)
		explain_call(question + 8, ret_explanation);
	else if (!strstr(question, "://") && access(here, F_OK) == 0)
		explain_path(plan, question, base, ret_explanation);
	else if (find_call(question))
		explain_call(question, ret_explanation);
	else if (is_host(question) || looks_like_host(question))
		explain_host(question, ret_explanation);
	else
		explain_path(plan, question, base, ret_explanation);
	ret_explanation->guessed = strcmp(ret_explanation->about, "host") == 0 &&
				   strncmp(question, "host:", 5) != 0 && !is_host(question);
}

void fence_explanation_release(struct fence_explanation *explanation)
{
	free(explanation->subject);
	free(explanation->rule);
	free(explanation->origin);
	free(explanation->note);
	free(explanation->change_value);
}
