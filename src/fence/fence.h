/*
 * The fence: runs one command where it can reach nothing but what it was given.
 *
 *	spec	what somebody asked for (options as they were written)
 *	plan	the same, judged: every path resolved once, everything refused that must be
 *	run	the plan at work, through one mechanism, with ringfence-init as process 1 inside
 *
 * A mechanism is one file with four operations (see fence_mechanism). ringfence-init does what all
 * of them share, so a new one needs to give it namespaces and mounts and nothing else. After every
 * run the writable places are swept: what the host would later execute, and was not there before,
 * goes to quarantine.
 */
#ifndef FENCE_FENCE_H
#define FENCE_FENCE_H

#include "fence/run/wire.h"
#include "util/buffer.h"
#include "util/error.h"
#include "util/glob.h"
#include "util/list.h"
#include "util/outlet.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* Exit statuses of a run that are not the command's own. */
enum {
	FENCE_EXIT_LIMIT = 123,
	FENCE_EXIT_TIMEOUT = 124,
	FENCE_EXIT_NOT_SET_UP = 125,
	FENCE_EXIT_NOT_EXECUTABLE = 126,
	FENCE_EXIT_NOT_FOUND = 127,
	FENCE_EXIT_SIGNAL = 128, /* plus the signal's number */
};

/* What of the network there is: nothing, what the outlet lets through, all of the host's. */
enum fence_net { FENCE_NET_NONE, FENCE_NET_LIST, FENCE_NET_OPEN };

/* What may be missing if the user says so. */
enum fence_weaker {
	FENCE_WEAKER_LANDLOCK = 1,
	FENCE_WEAKER_ABSTRACT_SOCKETS = 2,
	FENCE_WEAKER_NO_FENCE = 4
};

/* What can be limited: bytes, thousandths of a CPU, counts, milliseconds. See limit.h. */
enum fence_limit {
	FENCE_LIMIT_MEMORY,
	FENCE_LIMIT_CPUS,
	FENCE_LIMIT_PROCESSES, /* with threads */
	FENCE_LIMIT_OPEN_FILES,
	FENCE_LIMIT_FILE_SIZE,
	FENCE_LIMIT_TMP_SIZE,
	FENCE_LIMIT_DISK,
	FENCE_LIMIT_TIME,
	FENCE_LIMIT_COUNT /* also: none */
};

/* By what a limit is kept. */
enum fence_how {
	FENCE_HOW_NONE,
	FENCE_HOW_CGROUP_V2,
	FENCE_HOW_CGROUP_V1,
	FENCE_HOW_RLIMIT,
	FENCE_HOW_TMPFS,
	FENCE_HOW_AFFINITY,
	FENCE_HOW_WATCHED,
	FENCE_HOW_TIMER,
};

struct fence_listen {
	struct wire_listen where; /* inside */
	char *socket;             /* outside; NULL: a place of our own, named by port */
};

/* A path that somebody named, and who: "--hide", or a file with its line. */
struct fence_path {
	char *path;
	char *origin;
	bool weak; /* only narrows: it gives way to every other rule but the project's own */
};

struct fence_paths {
	struct fence_path *items;
	size_t count;
};

/* Entries of the project that are hidden by a pattern. */
struct fence_pattern {
	struct glob glob;
	char *origin;
};

struct fence_patterns {
	struct fence_pattern *items;
	size_t count;
};

/* Something that is shown at another path than its own: a private git directory where the project's is. */
struct fence_cover {
	char *path;   /* inside */
	char *source; /* outside */
	bool writable;
};

struct fence_covers {
	struct fence_cover *items; /* parents first */
	size_t count;
};

struct fence_place;

/* What somebody asked for. Texts are borrowed except where a list owns them. */
struct fence_spec {
	const char *mechanism; /* "auto", or a name */
	const char *project;   /* NULL: the current directory */
	const char *cwd; /* NULL: the current directory if it is in the project, else the project */
	const struct fence_place *place; /* where that is, if it was found before; else NULL */
	struct fence_paths write, read, hide;
	struct fence_covers covers; /* what a person says of the same places outweighs them */
	struct fence_patterns patterns;
	struct list env;
	bool read_only;
	const char *read_only_origin; /* who said so; NULL: nobody */
	bool denials;                 /* explain what the fence refuses */
	bool trace_reads;             /* with denials: reads, too */
	enum fence_net net;
	const char *net_origin; /* who said so; NULL: nobody */
	struct fence_paths
		allow; /* with FENCE_NET_LIST: the hosts, as rules (gateway/proxy/rule.h) */
	struct list
		models; /* with FENCE_NET_LIST: the outlet leads to models (gateway/models.h); none: it
			       does not */
	struct outlet_caps net_caps;
	struct outlet *outlet; /* who serves them; NULL: planned only, not run */
	struct fence_listen *listens;
	size_t listen_count;
	uint64_t limits[FENCE_LIMIT_COUNT]; /* 0: none */
	unsigned int accepted_weaker;
	unsigned int accepted_limits; /* a bit for each that need not be kept */
	const char *login; /* the file of which the command has a copy, for reports; NULL: none */
	/* A pipe whose other end is with whoever wants the run: a byte in it ends the run in order (TERM,
	 * grace, KILL), its end at once. NULL: none. */
	const int *lifeline;
	char *const *command;
};

/* Reads "127.0.0.1:8080", "[::1]:8080" or either with "=SOCKET" behind it. Returns 0, or -1 with
 * err set. */
int fence_listen_parse(const char *text, struct fence_listen *ret_listen, struct error *err);

void fence_paths_add(struct fence_paths *paths, const char *path, const char *origin);
void fence_paths_release(struct fence_paths *paths);

void fence_covers_add(struct fence_covers *covers, const char *path, const char *source,
		      bool writable);
void fence_covers_release(struct fence_covers *covers);

void fence_spec_release(struct fence_spec *spec);

/* "memory", "open-files", "time" ... The other way round FENCE_LIMIT_COUNT means that there is no such
 * limit. */
const char *fence_limit_name(enum fence_limit limit);
enum fence_limit fence_limit_find(const char *name);
const char *fence_how_name(enum fence_how how);

/* Reads the value of a limit as a person writes it: 512M, 1.5, 64, 30s. Returns 0, or -1 with err set. */
int fence_limit_parse(enum fence_limit limit, const char *text, uint64_t *ret_value,
		      struct error *err);

/* The value as a person would write it; the caller frees. */
char *fence_limit_text(enum fence_limit limit, uint64_t value);

/*
 * Where a limit is asked for that only a group of systemd's can keep: becomes `systemd-run --user
 * --scope` with this very program and its arguments in it. Returns where that is not needed, or not
 * possible; nothing was done then. Everything that was done before is done again.
 */
void fence_enter_scope(const struct fence_spec *spec);

/* Who runs the command, and whose files it sees. See identity.h. */
struct fence_identity {
	uid_t uid; /* inside and outside: the same number, never 0 */
	gid_t gid;
	uid_t caller; /* whose home and state are meant */
	gid_t caller_group;
	bool switched; /* root has become the project's owner: the environment is another's */
	bool mapped;   /* the files are root's; an idmapped mount lends them to uid */
	char *name;
	char *home;        /* the real home of the caller; empty if there is none */
	char *passwd_home; /* the one that /etc/passwd names, if another */
};

/* Where a run takes place, and whose it is. */
struct fence_place {
	struct fence_identity identity;
	char *project; /* a real path */
	char *state;   /* Ringfence's own folder */
};

/*
 * Finds the place of a project (as it was given; NULL: the current directory). Real root becomes
 * the project's owner here, for good: what is read afterwards is read with the owner's rights.
 * Returns 0, or -1 with err set.
 */
int fence_place_find(const char *project, struct fence_place *ret_place, struct error *err);
void fence_place_release(struct fence_place *place);

struct fence_rule {
	char *path; /* real path, the same inside */
	enum wire_access access;
	char *origin; /* "--hide", "ringfence.yml:12", or the name of a built-in table; of the project: who
			 made it read-only, if somebody did */
	bool asked;   /* by a person: the origin says where */
	bool exact;   /* named by a person; beats a pattern at the same path */
	bool project; /* the project's own */
	bool weak;    /* see struct fence_path */
	bool ignored; /* hidden by a pattern */
	bool is_dir;
	bool root;    /* a folder that was asked for: looked through for what is special in it */
	bool lent;    /* a folder of the user's: where root's files are mapped, this one is */
	dev_t device; /* what is at the path; of a place that the fence makes: 0 */
	ino_t inode;
	char *source; /* what is shown there instead; NULL: itself */
	dev_t source_device;
	ino_t source_inode;
};

struct fence_quarantined {
	char *path;
	char *reason;
	char *kept; /* where it is now; NULL: it could not be moved */
};

struct fence_found {
	struct fence_quarantined *items;
	size_t count;
	struct list flagged; /* changed, left where it is, and worth a look: Python environments */
};

struct fence_known { /* a host-executed entry that was there before */
	uint64_t device;
	uint64_t inode;
};

struct fence_witness { /* a folder above a rule that was found: had it changed since, the rule could
			  be at the wrong place */
	char *path;
	uint64_t device;
	uint64_t inode;
	struct timespec changed;
};

struct fence_link { /* a host-executed symlink: no mount can protect it, so it is put back */
	char *path;
	char *target;
};

struct fence_plan {
	struct fence_identity identity;
	char *project;
	char *cwd;
	char *home;  /* the private one inside; the same path as the real one where there is one */
	char *state; /* Ringfence's own folder */
	char *init;  /* ringfence-init */
	struct fence_rule *rules; /* sorted: parents first */
	size_t rule_count;
	bool whole; /* the project was named as writable */
	struct fence_known *known;
	size_t known_count;
	struct fence_witness *witnesses;
	size_t witness_count;
	struct fence_link *links;
	size_t link_count;
	struct fence_found recovered; /* what a killed run had left */
	struct list exempt;           /* host-executed places that the user opened by name */
	struct list notices;          /* what a person should be told before the run */
	struct list environment;
	const struct fence_spec *spec;
	const struct fence_mechanism *mechanism;
	unsigned int weaker;
};

/* Judges a spec. Returns 0, or -1 with err set: then nothing was started and nothing was written.
 */
int fence_plan_make(const struct fence_spec *spec, struct fence_plan *ret_plan, struct error *err);
void fence_plan_release(struct fence_plan *plan);

/* Is every folder above a rule still as it was when the rule was found? -1 with err set if not. */
int fence_plan_holds(const struct fence_plan *plan, struct error *err);

/* The access that a path has under the plan's rules, and the rule that decides (NULL: nothing names
 * it, it does not exist). */
const struct fence_rule *fence_plan_decide(const struct fence_plan *plan, const char *path);

/* Would somebody be allowed to ask for this path? Returns 0, or -1 with the reason. */
int fence_plan_permits(const struct fence_plan *plan, bool writable, const char *path,
		       struct error *err);

/* What the fence makes of a path, a host or a system call, in words. */
struct fence_explanation {
	const char *about; /* "path", "host" or "syscall" */
	char *subject;     /* as it was understood */
	const char *
		verdict; /* path: writable, readable, hidden, private, absent; else: allowed, refused,
				conditional */
	char *rule;
	char *origin;
	char *note;             /* what that means; may be NULL */
	const char *change_key; /* the setting that would change it; NULL: nothing can */
	char *change_value;
	bool guessed; /* a host by nothing but its name: a file that is not there may be meant */
	bool instead; /* nothing can, and the note says why, or what can be set instead */
};

/* Answers a question: "~/.ssh/id_rsa", "src/x.c", "https://example.org", "mount"; "path:", "host:" or
 * "syscall:" in front says what is meant. Relative paths are meant from `base`. Of a host only `about` and
 * `subject` are filled in: what is reached is the outlet's to say. */
void fence_explain(const struct fence_plan *plan, const char *question, const char *base,
		   struct fence_explanation *ret_explanation);
void fence_explanation_release(struct fence_explanation *explanation);

/* A rule as a person would name it, and where it comes from. The caller frees *ret_rule. */
void fence_rule_describe(const struct fence_plan *plan, const struct fence_rule *rule,
			 char **ret_rule, const char **ret_origin);

/* What could be set so that something that was denied (a kind and a target of struct fence_denial) would
 * be allowed. */
struct fence_offer {
	const char *key; /* "write" or "read"; NULL: nothing is offered */
	char *path;
	char *risk; /* in words; or why nothing is offered */
};

void fence_offer(const struct fence_plan *plan, const char *kind, const char *named,
		 struct fence_offer *ret_offer);
void fence_offer_release(struct fence_offer *offer);

/* Would it be allowed by this plan? */
bool fence_plan_allows(const struct fence_plan *plan, const char *kind, const char *target);

/* The names of the system calls that are always refused; NULL ends the list that begins at 0. */
const char *fence_refused_call(size_t index);

enum fence_exit {
	FENCE_OK,
	FENCE_COMMAND,
	FENCE_SIGNALLED,
	FENCE_LIMITED, /* it failed, or was ended, and had run into a limit */
	FENCE_DENIED,  /* it failed, and had been refused something */
	FENCE_SETUP
};

/* Something that the fence refused, as often as it was tried by the same program. */
struct fence_denial {
	const char *kind; /* write, create, remove, link, read, connect, socket, syscall */
	char *target;
	char *rule;
	const char *origin;
	char *program;
	pid_t pid; /* of the first attempt, as seen inside; 0: not known */
	struct list argv;
	uint64_t count;
	uint64_t hash;
};

struct fence_denials {
	struct fence_denial *items; /* in the order of their first attempts */
	size_t count;
	uint64_t unlisted; /* attempts beyond the most that are listed */
};

struct fence_limited {
	uint64_t value; /* 0: not asked for */
	enum fence_how how;
};

/* What everything inside has used together. */
struct fence_use {
	uint64_t cpu_ms;
	uint64_t memory_peak; /* without a group or a watch: of the largest process */
	uint64_t disk_written;
	uint64_t processes_peak; /* without a group or a watch: how many there were in all */
};

struct fence_result {
	enum fence_exit kind;
	int code;       /* the exit status to pass on */
	char why[2048]; /* for FENCE_SETUP, and for a command that could not be started */
	bool changed; /* with FENCE_SETUP: the project changed meanwhile; another try may succeed */
	unsigned int canaries_held, canaries_total;
	unsigned int weaker;
	unsigned int weaker_limits; /* a bit for each that was asked for and is not kept */
	struct fence_limited limits[FENCE_LIMIT_COUNT];
	enum fence_limit tripped; /* the one that was run into; FENCE_LIMIT_COUNT: none */
	struct fence_use use;
	const char *mechanism;
	uint64_t duration_ms;
	struct fence_found found; /* in quarantine */
	struct fence_denials denials;
	struct outlet_host *hosts; /* what the outlet was used for */
	size_t host_count;
	struct list warnings;
};

const char *fence_exit_name(enum fence_exit kind);
void fence_result_release(struct fence_result *result);

/* Appends what became of a run, as JSON; plan may be NULL. */
void fence_report(const struct fence_plan *plan, const struct fence_result *result,
		  struct buffer *out);

/* Keeps that for `ringfence suggest` if something was denied; if nothing was, what is kept of this project is
 * forgotten. */
void fence_keep_report(const struct fence_plan *plan, const struct fence_result *result,
		       const struct buffer *json);

/* Where it is kept; the caller frees. */
char *fence_kept_report(const char *state, const char *project);

/* Where a run tells a person something while it goes on. */
typedef void fence_notice_fn(const char *text);

/*
 * Runs the plan's command to its end, with the caller's stdin, stdout and stderr (a terminal is
 * replaced by one of the fence's own). Always fills the result; a failure to set up is a result
 * too.
 */
void fence_run(const struct fence_plan *plan, fence_notice_fn *notice,
	       struct fence_result *ret_result);

/*
 * For whoever changes a project without running anything in it, such as a rollback: between these two, what the
 * host would execute and was not there before comes into the project; it goes into quarantine, also if this
 * process is killed in between (then at the next start). Both return 0, or -1 with err set.
 */
struct fence_guarded;

int fence_guard_begin(const char *project, const struct fence_place *place,
		      struct fence_guarded **ret_guarded, struct error *err);
int fence_guard_end(struct fence_guarded *guarded, struct fence_found *ret_found,
		    struct error *err);
void fence_found_release(struct fence_found *found);

/* Does the host run what is at this path in a project, or read it as settings, without being asked? Then why, in a few
 * words; else NULL. */
const char *fence_executed(const char *path);

struct limit_set;

/* How long a fence may take to come up: so long, and so much more for each rule. */
enum { FENCE_SETUP_MS = 5000, FENCE_SETUP_MS_PER_RULE = 10 };

/* What a mechanism gets to start with. */
struct fence_start {
	const struct fence_plan *plan;
	const struct limit_set *limiter;
	struct buffer *
		order; /* for init; the mechanism adds what it must find. It is sent after the start */
	int control;    /* init's end of the control socket */
	int complaints; /* where the mechanism's own messages go */
	int stdio[3];   /* for the command; -1: closed, or the fence's own terminal */
};

struct fence_mechanism {
	const char *name;
	/* Can it work here at all? Cheap; the canaries of the run are the proof. -1 with the remedy
	 * for this machine. */
	int (*detect)(struct error *err);
	/* Adds to a plan what only this mechanism needs, or refuses what it cannot do. */
	int (*plan)(struct fence_plan *plan, struct error *err);
	/* Starts ringfence-init in the fence, and gives its process here; the child reports trouble
	 * on `complaints`. */
	int (*start)(const struct fence_start *start, pid_t *ret_pid, struct error *err);
	/* Turns what the mechanism complained about into a sentence with the remedy for this
	 * machine. */
	void (*classify)(const char *complaints, int status, struct error *err);
};

/* All mechanisms. A name without all four operations does not compile. */
#define FENCE_MECHANISMS(X) \
	X(bwrap)            \
	X(none)

enum fence_mechanism_id {
#define FENCE_ID(name) FENCE_MECHANISM_##name,
	FENCE_MECHANISMS(FENCE_ID)
#undef FENCE_ID
		FENCE_MECHANISM_COUNT
};

#define FENCE_DECLARE(name)                                                                   \
	int name##_detect(struct error *err);                                                 \
	int name##_plan(struct fence_plan *plan, struct error *err);                          \
	int name##_start(const struct fence_start *start, pid_t *ret_pid, struct error *err); \
	void name##_classify(const char *complaints, int status, struct error *err);
FENCE_MECHANISMS(FENCE_DECLARE)
#undef FENCE_DECLARE

/* The mechanism with this name, or with "auto" the best one; NULL if there is no such name. */
const struct fence_mechanism *fence_mechanism_find(const char *name);

/*
 * For mechanisms, in the child: a session and signals of its own, the descriptors of a start where
 * init expects them, and the groups that limit it.
 */
int fence_prepare_child(const struct fence_start *start, struct error *err);

#endif
