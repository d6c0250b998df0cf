/* The rules of alerts: see alert.h. */
#include "alert/alert.h"

#include "util/mem.h"
#include "util/text/text.h"

#include <stdio.h>
#include <string.h>

enum { CHANGE_MAX = 100 };

enum unit { UNIT_COUNT, UNIT_MONEY, UNIT_SIZE, UNIT_TIME };

/* When a value is one to alert about. */
enum sense { ABOVE, FROM, BELOW };

struct row {
	enum unit unit;
	enum sense sense;
	int64_t level;        /* the default */
	bool of_iteration;    /* the value begins again with each iteration */
	bool only_notifies;   /* the supervisor cannot act on it */
	const char *sentence; /* %s: the level, then the value */
};

#define MINUTE INT64_C(60000)

static const struct row rows[ALERT_COUNT] = {
	[ALERT_errors] = { UNIT_COUNT, ABOVE, 20, .of_iteration = true,
			   .sentence = "more than %s errors in this iteration (%s so far)" },
	[ALERT_tool_calls] = { UNIT_COUNT, ABOVE, 500, .of_iteration = true,
			       .sentence =
				       "more than %s tool calls in this iteration (%s so far)" },
	[ALERT_files] = { UNIT_COUNT, ABOVE, 100, .of_iteration = true,
			  .sentence = "more than %s files were changed in this iteration (%s)" },
	[ALERT_no_progress] = { UNIT_COUNT, FROM, 3,
				.sentence =
					"no progress in %s or more iterations in a row (%s so far)" },
	[ALERT_cost] = { UNIT_MONEY, ABOVE, INT64_C(10000000000),
			 .sentence = "the loop has cost more than US$ %s (US$ %s so far)" },
	[ALERT_finding] = { UNIT_COUNT, FROM, 1,
			    .sentence =
				    "%s or more signs that the changes weaken the checks (%s so "
				    "far; see: ringfence diff --findings)" },
	[ALERT_disk] = { UNIT_SIZE, BELOW, INT64_C(1) << 30, .of_iteration = true,
			 .sentence = "less than %s of disk space is free (%s)" },
	[ALERT_time] = { UNIT_TIME, ABOVE, 90 * MINUTE, .of_iteration = true,
			 .sentence = "this iteration has taken longer than %s (%s so far)" },
	[ALERT_heartbeat] = { UNIT_TIME, ABOVE, 2 * MINUTE, .only_notifies = true,
			      .sentence = "the supervisor has given no sign of life for more than "
					  "%s (%s so far)" },
};

static const char *const names[ALERT_COUNT] = {
#define ALERT_RULE(name, word) [ALERT_##name] = (word),
	ALERT_RULES(ALERT_RULE)
#undef ALERT_RULE
};

#define ALL_ACTIONS "off, notify, ask, pause or abort"
static const char *const actions[] = {
	[ALERT_OFF] = "off",     [ALERT_NOTIFY] = "notify", [ALERT_ASK] = "ask",
	[ALERT_PAUSE] = "pause", [ALERT_ABORT] = "abort",
};

enum { ACTIONS = sizeof actions / sizeof *actions };

const char *alert_rule_name(enum alert_rule rule)
{
	return names[rule];
}

const char *alert_action_name(enum alert_action action)
{
	return actions[action];
}

int alert_rule_find(const char *name)
{
	for (int i = 0; i < ALERT_COUNT; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	return -1;
}

int alert_action_find(const char *name)
{
	for (int i = 0; i < ACTIONS; i++)
		if (strcmp(actions[i], name) == 0)
			return i;
	return -1;
}

void alert_init(struct alert_settings *settings)
{
	for (int i = 0; i < ALERT_COUNT; i++)
		settings->rules[i] = (struct alert_setting){ rows[i].level, ALERT_NOTIFY };
}

void alert_facts_init(struct alert_facts *facts)
{
	for (int i = 0; i < ALERT_COUNT; i++)
		facts->values[i] = ALERT_UNKNOWN;
}

static int parse_level(enum unit unit, const char *text, int64_t *ret_level)
{
	uint64_t number = 0;
	int result = unit == UNIT_COUNT   ? text_count(text, &number)
		     : unit == UNIT_MONEY ? text_thousandths(text, &number)
		     : unit == UNIT_SIZE  ? text_bytes(text, &number)
					  : text_duration_ms(text, &number);

	if (result < 0)
		return -1;
	*ret_level = (int64_t)(unit == UNIT_MONEY ? number * 1000000 : number);
	return 0;
}

static const char *level_words(enum unit unit)
{
	static const char *const words[] = {
		[UNIT_COUNT] = "a number such as 50",
		[UNIT_MONEY] = "US$ such as 7.50",
		[UNIT_SIZE] = "a size such as 5G",
		[UNIT_TIME] = "a time such as 2h",
	};

	return words[unit];
}

static int change_all(struct alert_settings *settings, const char *word, struct error *err)
{
	int action = word ? alert_action_find(word) : -1;

	if (action < 0)
		return error_set(err, "'all' needs an action: " ALL_ACTIONS);
	for (int i = 0; i < ALERT_COUNT; i++)
		if (!rows[i].only_notifies || action <= ALERT_NOTIFY)
			settings->rules[i].action = (enum alert_action)action;
	return 0;
}

/* Reads one word after the rule: a level or, as the last one, an action. */
static int change_part(enum alert_rule rule, struct alert_setting *setting, const char *word,
		       bool last, struct error *err)
{
	const struct row *row = &rows[rule];
	int action = alert_action_find(word);

	if (action < 0 && parse_level(row->unit, word, &setting->level) == 0)
		return 0;
	if (action < 0 || !last)
		return error_set(
			err,
			"'%.40s' is neither a level of '%s' (%s) nor an action (" ALL_ACTIONS
			"); a level comes first",
			word, names[rule], level_words(row->unit));
	if (row->only_notifies && action > ALERT_NOTIFY)
		return error_set(err,
				 "'%s' can only be off or notify: a supervisor that does not "
				 "answer cannot act",
				 names[rule]);
	setting->action = (enum alert_action)action;
	return 0;
}

static int refuse_rule(const char *name, struct error *err)
{
	AUTO_BUFFER struct buffer known = BUFFER_INIT(1024);

	for (int i = 0; i < ALERT_COUNT; i++)
		buffer_printf(&known, "%s, ", names[i]);
	return error_set(err, "'%.40s' is not a rule (%sor all)", name, buffer_text(&known));
}

int alert_change(struct alert_settings *settings, const char *text, struct error *err)
{
	char words[CHANGE_MAX];
	char *rest = words;

	if (snprintf(words, sizeof words, "%s", text) >= (int)sizeof words)
		return error_set(err, "an alert has at most %d characters", CHANGE_MAX - 1);

	const char *name = strtok_r(words, " ", &rest);
	const char *first = strtok_r(NULL, " ", &rest);
	const char *second = strtok_r(NULL, " ", &rest);
	bool more = strtok_r(NULL, " ", &rest);
	int rule = name ? alert_rule_find(name) : -1;
	struct alert_setting setting;

	if (name && strcmp(name, "all") == 0 && !second)
		return change_all(settings, first, err);
	if (rule < 0)
		return refuse_rule(name ? name : "", err);
	if (!first || more)
		return error_set(err, "use RULE [LEVEL] [ACTION], such as '%s off'", name);
	setting = settings->rules[rule];
	if (change_part((enum alert_rule)rule, &setting, first, !second, err) < 0 ||
	    (second && change_part((enum alert_rule)rule, &setting, second, true, err) < 0))
		return -1;
	if (second && alert_action_find(second) < 0)
		return error_set(err, "'%s' has two levels", name);
	settings->rules[rule] = setting;
	return 0;
}

bool alert_holds(const struct alert_settings *settings, enum alert_rule rule, int64_t value)
{
	const struct alert_setting *setting = &settings->rules[rule];

	if (setting->action == ALERT_OFF || value == ALERT_UNKNOWN)
		return false;
	switch (rows[rule].sense) {
	case ABOVE:
		return value > setting->level;
	case FROM:
		return value >= setting->level;
	default:
		return value < setting->level;
	}
}

uint32_t alert_judge(const struct alert_settings *settings, const struct alert_facts *facts)
{
	uint32_t held = 0;

	for (int i = 0; i < ALERT_COUNT; i++)
		if (alert_holds(settings, (enum alert_rule)i, facts->values[i]))
			held |= 1U << i;
	return held;
}

uint32_t alert_of_iteration(void)
{
	uint32_t set = 0;

	for (int i = 0; i < ALERT_COUNT; i++)
		set |= rows[i].of_iteration ? 1U << i : 0;
	return set;
}

static char *quantity(enum unit unit, int64_t value)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(64);

	if (unit == UNIT_SIZE)
		return text_size((uint64_t)value);
	if (unit == UNIT_MONEY)
		return mem_format("%.2f", (double)value / 1e9);
	if (unit == UNIT_COUNT)
		return mem_format("%lld", (long long)value);
	text_add_duration(&text, (uint64_t)value / 1000 * 1000);
	return mem_dup(value < 1000 ? "0s" : buffer_text(&text));
}

char *alert_text(const struct alert_settings *settings, enum alert_rule rule, int64_t value)
{
	const struct row *row = &rows[rule];
	AUTO_FREE char *level = quantity(row->unit, settings->rules[rule].level);
	AUTO_FREE char *now = quantity(row->unit, value);
	const char *gap = strstr(row->sentence, "%s");
	const char *second = strstr(gap + 2, "%s");

	return mem_format("%.*s%s%.*s%s%s", (int)(gap - row->sentence), row->sentence, level,
			  (int)(second - gap - 2), gap + 2, now, second + 2);
}
