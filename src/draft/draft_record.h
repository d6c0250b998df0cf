/*
 * The drafts in Ringfence's state folder, each in a folder STATE/drafts/ID:
 *
 *	record.json	what follows in struct draft_record
 *	lock		held by the process that uses the draft
 *	layers		the draft itself (draft.h), of any kind
 *
 * The base and the result of a draft are checkpoints of its project, under the draft's id.
 */
#ifndef DRAFT_DRAFT_RECORD_H
#define DRAFT_DRAFT_RECORD_H

#include "util/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DRAFT_RECORD_NONE = -1 };

struct draft_record {
	char *id;
	char *folder;
	char *layers;
	char *project; /* a real path */
	char *command; /* the last one, as a line for a shell */
	int64_t began_ms;
	int64_t code;    /* the exit status of the last command; NONE if it was interrupted */
	int64_t result;  /* the checkpoint that holds the last result, or NONE */
	int64_t spent;   /* the result of which nothing waits to be applied, or NONE */
	bool ignored;    /* it also changes ignored files */
	int64_t used_ms; /* when the last command in it ended */
	int64_t bytes;   /* its disk usage at that time, or NONE */
	int lock;        /* while this process uses the draft, or -1 */
	bool of_loop;    /* it belongs to the loop with this id; there is no record.json */
	char *commit;    /* of a loop: the last one of its branch, or NULL */
};

struct draft_records {
	struct draft_record *items; /* oldest first */
	size_t count;
};

/* Creates the record of a new draft, and locks it. The caller makes the draft (draft_make()) at
 * record->layers. Returns 0, or -1 with err set. */
int draft_record_create(const char *state, const char *project, const char *command,
			struct draft_record *ret_record, struct error *err);

/* Finds a draft. Returns 0, or -1 with err set; the status is ERROR_NOT_FOUND if there is none. */
int draft_record_find(const char *state, const char *id, struct draft_record *ret_record,
		      struct error *err);

/* Lists all drafts that can be read. Returns 0, or -1 with err set. */
int draft_record_list(const char *state, struct draft_records *ret_records, struct error *err);

/* Sorts drafts by age, the oldest first. */
void draft_records_sort(struct draft_records *records);

/* Waits for nobody: fails with ERROR_BUSY if another process uses the draft. */
int draft_record_lock(struct draft_record *record, struct error *err);
bool draft_record_is_busy(const struct draft_record *record);

/* Returns whether the last command was interrupted, so that the result lacks its changes. */
bool draft_record_is_interrupted(const struct draft_record *record);

/* Returns whether nothing in the draft waits to be applied. */
bool draft_record_is_spent(const struct draft_record *record);

/* Returns the disk usage of drafts: as recorded, or measured if that is not known. */
uint64_t draft_records_bytes(const struct draft_records *records);

/* Checks that the draft has a result to show or apply. Returns 0, or -1 with the reason in err. */
int draft_record_check_result(const struct draft_record *record, struct error *err);

/* Stores the record, which must be locked. Returns 0, or -1 with err set. */
int draft_record_write(const struct draft_record *record, struct error *err);

/* Removes the draft, which must be locked, but not its checkpoints, and adds the freed bytes.
 * Returns 0, or -1 with err set. */
int draft_record_remove(struct draft_record *record, uint64_t *bytes, struct error *err);

void draft_record_release(struct draft_record *record);
void draft_records_release(struct draft_records *records);

#endif
