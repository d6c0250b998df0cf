/* Finding settings and parsing their values: see setting.h. */
#include "config/setting.h"

#include "config/phase_text.h"
#include "util/mem.h"
#include "util/text/text.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>

_Static_assert(SETTING_LONGEST < PATH_MAX, "a path that is accepted here must fit");

const struct setting *setting_at(size_t id)
{
	return id < SETTING_CHECK     ? &setting_fence_rows[id]
	       : id < SETTING_SESSION ? &setting_agent_rows[id - SETTING_CHECK]
				      : &setting_loop_rows[id - SETTING_SESSION];
}

const struct setting *setting_find(const char *key, const char **ret_nearest)
{
	const char *nearest = NULL;
	size_t distance = (size_t)-1;

	for (size_t i = 0; i < SETTING_ID_COUNT; i++) {
		const char *known = setting_at(i)->key;

		if (strcmp(known, key) == 0)
			return setting_at(i);
		if (ret_nearest && text_is_nearer(key, known, &distance))
			nearest = known;
	}
	if (ret_nearest)
		*ret_nearest = nearest;
	return NULL;
}

bool setting_is_list(const struct setting *setting)
{
	return setting->type == SETTING_PATHS || setting->type == SETTING_WORDS ||
	       setting->type == SETTING_MAPS;
}

/* Adds the largest value to what is allowed. */
static char *up_to(const struct setting *setting, const char *allowed)
{
	return setting->most ? mem_format("%s (the maximum is %llu)", allowed,
					  (unsigned long long)setting->most)
			     : mem_dup(allowed);
}

char *setting_allowed(const struct setting *setting)
{
	struct buffer text = BUFFER_INIT(4096);

	switch (setting->type) {
	case SETTING_SWITCH:
		return mem_dup("true or false");
	case SETTING_SIZE:
		return up_to(
			setting,
			"a size such as 512M or 4G (K, M, G or T; a bare number is bytes), or none");
	case SETTING_COUNT:
		return up_to(setting, "a whole number above 0, or none");
	case SETTING_CPUS:
		return mem_dup("a number such as 2 or 1.5 (up to 1024), or none");
	case SETTING_SHARE:
		return mem_dup("a number above 0, at most 1, such as 0.95, or none");
	case SETTING_TIME:
		return mem_dup(
			"a time such as 30s, 10m, 2h or 1h30m (a bare number is minutes), or none");
	case SETTING_MONEY:
		return mem_dup("an amount such as 2 or 2.50, or none");
	case SETTING_TEXT:
		return mem_format("a text (%s), or none", setting->value);
	case SETTING_PATHS:
		return mem_dup("a path or a list of paths");
	case SETTING_MAPS:
		return mem_dup("a list of phases, each with a name");
	case SETTING_CHOICE:
	case SETTING_WORDS:
		break;
	}
	if (!setting->choices)
		buffer_printf(&text, "%s or a list of these", setting->value);
	for (size_t i = 0; setting->choices && setting->choices[i]; i++)
		buffer_printf(&text, "%s%s",
			      i == 0                    ? ""
			      : setting->choices[i + 1] ? ", "
							: " or ",
			      setting->choices[i]);
	buffer_text(&text);
	return text.data;
}

static int refuse_value(const struct setting *setting, const char *text, struct error *err)
{
	AUTO_FREE char *allowed = setting_allowed(setting);

	if (!*text)
		return error_set(err, "%s has an empty value; it must be %s", setting->key,
				 allowed);
	return error_set(err, "%s must be %s, not '%.200s'", setting->key, allowed, text);
}

static int parse_choice(const struct setting *setting, const char *text, uint64_t *ret_number)
{
	size_t count = 0;

	for (; setting->choices[count]; count++) {
		if (strcmp(setting->choices[count], text) == 0) {
			*ret_number = count;
			return 0;
		}
	}
	if (!setting->former || strcmp(setting->former, text) != 0)
		return -1;
	*ret_number = count - 1;
	return 0;
}

static int parse_limit(const struct setting *setting, const char *text, uint64_t *ret_number)
{
	if (strcmp(text, "none") == 0) {
		*ret_number = 0;
		return 0;
	}
	switch (setting->type) {
	case SETTING_SIZE:
		return text_bytes(text, ret_number);
	case SETTING_COUNT:
		return text_count(text, ret_number);
	case SETTING_CPUS:
		return text_thousandths(text, ret_number) < 0 || *ret_number > 1024000 ? -1 : 0;
	case SETTING_SHARE:
		return text_thousandths(text, ret_number) < 0 || *ret_number > 1000 ? -1 : 0;
	case SETTING_MONEY:
		if (text_thousandths(text, ret_number) < 0)
			return -1;
		*ret_number *= 1000000;
		return 0;
	default:
		return text_duration_ms(text, ret_number);
	}
}

static int check_variable(const struct setting *setting, const char *text, struct error *err)
{
	size_t size = strcspn(text, "=");

	if (size == 0)
		return error_set(err, "%s '%.200s' has no name; it must be NAME or NAME=VALUE",
				 setting->key, text);
	for (size_t i = 0; i < size; i++)
		if (!isalnum((unsigned char)text[i]) && text[i] != '_')
			return error_set(
				err,
				"%s: '%.200s' is not a valid variable (NAME or NAME=VALUE; a name has letters, digits and _)",
				setting->key, text);
	return 0;
}

/* List entries may be any text, except for variables and choices. */
static int parse_entry(const struct setting *setting, const char *text, uint64_t *ret_number,
		       struct error *err)
{
	*ret_number = 0;
	if (!*text)
		return refuse_value(setting, text, err);
	if (strlen(text) > SETTING_LONGEST)
		return error_set(err, "%s has a value of %zu bytes; the maximum is %d",
				 setting->key, strlen(text), (int)SETTING_LONGEST);
	if (setting->id == SETTING_ENV)
		return check_variable(setting, text, err);
	if (setting->choices)
		return parse_choice(setting, text, ret_number) < 0
			       ? refuse_value(setting, text, err)
			       : 0;
	return 0;
}

/* Stores a hash (FNV-1a), so that a changed text is noticed; 0 stands for `none`. */
static int parse_text(const struct setting *setting, const char *text, uint64_t *ret_number,
		      struct error *err)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	if (parse_entry(setting, text, ret_number, err) < 0)
		return -1;
	for (const char *at = text; *at; at++)
		hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
	*ret_number = strcmp(text, "none") == 0 ? 0 : hash | 1;
	return 0;
}

/* As an option, phases are named. */
static int parse_names(const struct setting *setting, const char *text, uint64_t *ret_number,
		       struct error *err)
{
	struct list names = { 0 };
	struct error wrong;
	int result = phase_text_names(text, &names, &wrong);

	list_release(&names);
	*ret_number = 0;
	return result < 0 ? error_set(err, "%s: %s", setting->key, wrong.text) : 0;
}

int setting_parse(const struct setting *setting, const char *text, uint64_t *ret_number,
		  struct error *err)
{
	int result;

	switch (setting->type) {
	case SETTING_PATHS:
	case SETTING_WORDS:
		return parse_entry(setting, text, ret_number, err);
	case SETTING_MAPS:
		return parse_names(setting, text, ret_number, err);
	case SETTING_TEXT:
		return parse_text(setting, text, ret_number, err);
	case SETTING_SWITCH:
		result = strcmp(text, "true") == 0 || strcmp(text, "false") == 0 ? 0 : -1;
		if (result == 0)
			*ret_number = text[0] == 't';
		break;
	case SETTING_CHOICE:
		result = parse_choice(setting, text, ret_number);
		break;
	default:
		result = parse_limit(setting, text, ret_number);
		break;
	}
	return result < 0 || (setting->most && *ret_number > setting->most)
		       ? refuse_value(setting, text, err)
		       : 0;
}

bool setting_widens(const struct setting *setting, uint64_t number, uint64_t before)
{
	if (setting->trust == SETTING_TRUSTED)
		return number != before;
	if (setting->trust == SETTING_FREE)
		return false;
	switch (setting->type) {
	case SETTING_SWITCH: /* true is always the stricter value */
		return number < before;
	case SETTING_CHOICE: /* ordered from strict to wide */
		return number > before;
	default:
		if (!before && setting->unset && number)
			before = setting->unset();
		return before != 0 && (number == 0 || number > before);
	}
}

const char *setting_trust_text(const struct setting *setting)
{
	switch (setting->trust) {
	case SETTING_FREE:
		return "A project's own file may set it: it can only tighten.";
	case SETTING_TIGHTER:
		return "A project's own file may tighten it; widening it needs `ringfence trust`.";
	case SETTING_OWN:
		return "Only your own file may set it, never a project's.";
	default:
		return "Setting it in a project's own file needs `ringfence trust`.";
	}
}
