/* Reading tables of prices: see price.h and data/prices.txt. */
#include "price/price.h"

#include "util/buffer.h"
#include "util/fd.h"
#include "util/mem.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char built_in[] =
#include "prices.inc"
	;

/* A decimal number of at most so many places, as an integer of 10^-places; -1: it is none. */
static int64_t read_decimal(const char *text, int places)
{
	enum { MOST = 1000000 };
	int64_t number = 0;
	bool point = false;

	if (!isdigit((unsigned char)*text))
		return -1;
	for (; *text; text++) {
		if (*text == '.' && !point) {
			point = true;
			continue;
		}
		if (!isdigit((unsigned char)*text) || (point && places-- == 0))
			return -1;
		number = number * 10 + (*text - '0');
		if (!point && number > MOST)
			return -1;
	}
	while (places-- > 0)
		number *= 10;
	return number;
}

/* "x1.5" in thousandths. */
static int64_t read_multiple(const char *text)
{
	int64_t number = *text == 'x' ? read_decimal(text + 1, 3) : -1;

	return number > 0 ? number : -1;
}

/* The value of "KEY=VALUE"; NULL: it is another key. */
static const char *value_of(const char *word, const char *key)
{
	size_t size = strlen(key);

	return strncmp(word, key, size) == 0 && word[size] == '=' ? word + size + 1 : NULL;
}

static const char *const keys[] = {
	[PRICE_INPUT] = "in",
	[PRICE_OUTPUT] = "out",
	[PRICE_CACHE_READ] = "read",
	[PRICE_CACHE_WRITE_5M] = "write_5m",
	[PRICE_CACHE_WRITE_1H] = "write_1h",
};
_Static_assert(sizeof keys / sizeof *keys == PRICE_KINDS, "every kind has a key");

/* One word of a model's line. Returns 0, or -1. */
static int read_word(struct price_model *model, const char *word)
{
	struct price_tier *tier = model->above ? &model->large : &model->usual;
	const char *value;

	for (int i = 0; i < PRICE_KINDS; i++) {
		value = value_of(word, keys[i]);
		if (value)
			return (tier->each[i] = read_decimal(value, 6)) < 0 ? -1 : 0;
	}
	value = value_of(word, "fast");
	if (value)
		return (model->fast = read_multiple(value)) < 0 ? -1 : 0;
	value = value_of(word, "above");
	if (!value || model->above)
		return -1;
	model->above = read_decimal(value, 0);
	model->large = model->usual;
	return model->above > 0 ? 0 : -1;
}

static int read_model(struct price_model *model, const char *name, char **rest)
{
	char *word;

	*model = (struct price_model){ 0 };
	for (int i = 0; i < PRICE_KINDS; i++)
		model->usual.each[i] = -1;
	if (strlen(name) >= sizeof model->name)
		return -1;
	snprintf(model->name, sizeof model->name, "%s", name);
	while ((word = strtok_r(NULL, " \t\r", rest)))
		if (read_word(model, word) < 0)
			return -1;
	return model->usual.each[PRICE_INPUT] < 0 || model->usual.each[PRICE_OUTPUT] < 0 ? -1 : 0;
}

static int read_date(struct price_table *table, const char *value)
{
	if (!value || strlen(value) != 10)
		return -1;
	snprintf(table->date, sizeof table->date, "%s", value);
	return 0;
}

/* One line, which is changed. Returns 0, or -1: it is malformed. */
static int read_line(struct price_table *table, char *line, bool own)
{
	char *rest = NULL;
	char *word;
	struct price_model model;

	line[strcspn(line, "#")] = '\0';
	word = strtok_r(line, " \t\r", &rest);
	if (!word)
		return 0;
	if (strcmp(word, "date") == 0)
		return read_date(table, strtok_r(NULL, " \t\r", &rest));
	if (strcmp(word, "search") == 0) {
		word = strtok_r(NULL, " \t\r", &rest);
		return word && (table->search_nusd = read_decimal(word, 9)) >= 0 ? 0 : -1;
	}
	if (strcmp(word, "us") == 0) {
		word = strtok_r(NULL, " \t\r", &rest);
		return word && (table->us = read_multiple(word)) > 0 ? 0 : -1;
	}
	if (table->count >= PRICE_MODELS_MAX || read_model(&model, word, &rest) < 0)
		return -1;
	model.own = own;
	table->models = mem_resize(table->models, table->count + 1, sizeof model);
	table->models[table->count++] = model;
	return 0;
}

static int add_text(struct price_table *table, const char *text, size_t size, const char *name,
		    bool own, struct error *err)
{
	AUTO_FREE char *copy = mem_alloc(size + 1);
	struct price_table made = *table;
	int number = 0;

	if (memchr(text, '\0', size))
		return error_set(err, "'%s' is no table of prices: it holds a NUL", name);
	memcpy(copy, text, size);
	copy[size] = '\0';
	made.models = mem_resize(NULL, table->count + 1, sizeof *made.models);
	if (table->count)
		memcpy(made.models, table->models, table->count * sizeof *made.models);
	for (char *line = copy; line;) {
		char *end = strchr(line, '\n');

		if (end)
			*end = '\0';
		number++;
		if (read_line(&made, line, own) < 0) {
			free(made.models);
			return error_set(
				err,
				"%s:%d is no price: NAME in=US$ out=US$ [read= write_5m= write_1h= fast=xN above=TOKENS ...]",
				name, number);
		}
		line = end ? end + 1 : NULL;
	}
	free(table->models);
	*table = made;
	return 0;
}

int price_table_init(struct price_table *ret_table, struct error *err)
{
	*ret_table = (struct price_table){ .us = 1000 };
	return add_text(ret_table, built_in, sizeof built_in - 1, "the built-in table", false, err);
}

int price_table_add(struct price_table *table, const char *text, size_t size, const char *name,
		    struct error *err)
{
	return add_text(table, text, size, name, true, err);
}

int price_table_add_file(struct price_table *table, const char *path, struct error *err)
{
	AUTO_BUFFER struct buffer text = BUFFER_INIT(PRICE_FILE_MAX);
	AUTO_FD fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 || fd_read_all(fd, &text) < 0)
		return error_sys(err, "read the prices in '%s'", path);
	return price_table_add(table, buffer_text(&text), text.used, path, err);
}
