/* Makes a plan from a spec: see fence_plan.h. */
#include "fence/fence_plan.h"

#include "fence/after/sweep.h"
#include "fence/mechanism/mechanism.h"
#include "fence/plan/cover.h"
#include "fence/plan/defaults.h"
#include "fence/plan/environment.h"
#include "fence/plan/home.h"
#include "fence/plan/identity.h"
#include "fence/plan/known.h"
#include "fence/plan/permit.h"
#include "fence/plan/place.h"
#include "fence/plan/protection.h"
#include "fence/plan/ruleset.h"
#include "fence/plan/scan.h"
#include "fence/run/run_home.h"
#include "fence/run/run_record.h"
#include "util/file/fd.h"
#include "util/file/path.h"
#include "util/mem.h"
#include "util/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char built_in[] = "built-in";

/* Returns whether the command may replace entries of this folder, in this run or the last one. */
static bool in_reach(const struct fence_plan *plan, const char *folder)
{
	for (size_t i = 0; i < plan->rule_count; i++)
		if ((plan->rules[i].access == WIRE_WRITE || plan->rules[i].project) &&
		    path_within(folder, plan->rules[i].path))
			return true;
	return false;
}

/* A path that is being resolved, one component at a time. */
struct resolution {
	const struct fence_plan *plan;
	const char *option;
	const char *path;
	struct list *passed; /* folders that contain a symlink on the path */
	char *rest;          /* owns the text that `next` points into */
	char *next;          /* the components that remain, or NULL */
	char *real;          /* the path so far, without symlinks */
	int at;              /* the same, opened */
	int links;
};

static void resolution_release(struct resolution *walk)
{
	free(walk->rest);
	free(walk->real);
	fd_close(&walk->at);
}

/* Moves on to an entry of the current folder that is not a symlink. */
static void enter(struct resolution *walk, const char *name, int *entry)
{
	AUTO_FREE char *joined = path_join(walk->real, name);

	free(walk->real);
	walk->real = path_absolute(joined, "/"); /* a symlink's target may contain ".." */
	fd_close(&walk->at);
	walk->at = fd_steal(entry);
}

/* Continues with the target of a symlink. Invalidates `name`. */
static int follow(struct resolution *walk, const char *name, int entry, struct error *err)
{
	enum { MOST_LINKS = 40 };
	char target[PATH_MAX];
	char *longer;
	ssize_t n;

	errno = ELOOP;
	if (in_reach(walk->plan, walk->real))
		return error_set(
			err,
			"%s '%s' passes through the symlink '%s/%s', which the command could change; use the real path",
			walk->option, walk->path, walk->real, name);
	list_add(walk->passed, walk->real); /* checked again when all options are known */
	errno = ELOOP;
	if (++walk->links > MOST_LINKS ||
	    (n = readlinkat(entry, "", target, sizeof target - 1)) < 0)
		return error_sys(err, "%s '%s'", walk->option, walk->path);
	target[n] = '\0';
	longer = path_join(target, walk->next ? walk->next : "");
	free(walk->rest);
	walk->rest = walk->next = longer;
	if (target[0] == '/') {
		fd_close(&walk->at);
		walk->at = open("/", O_PATH | O_CLOEXEC);
		free(walk->real);
		walk->real = mem_dup("/");
	}
	return 0;
}

static int resolve_components(struct resolution *walk, struct stat *ret_status, struct error *err)
{
	for (char *name; (name = strsep(&walk->next, "/"));) {
		if (!*name || strcmp(name, ".") == 0)
			continue;

		AUTO_FD entry = openat(walk->at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

		if (entry < 0 || fstat(entry, ret_status) < 0)
			return error_sys(err, "%s '%s'", walk->option, walk->path);
		if (!S_ISLNK(ret_status->st_mode))
			enter(walk, name, &entry);
		else if (follow(walk, name, entry, err) < 0)
			return -1;
	}
	if (walk->at < 0 || fstat(walk->at, ret_status) < 0)
		return error_sys(err, "%s '%s'", walk->option, walk->path);
	return 0;
}

/*
 * Resolves the path that an option names, component by component, so that nobody can swap one
 * between the check and its use. Refuses a symlink that the command could redirect. The caller
 * frees *ret_real. Returns 0, or -1 with err and errno set.
 */
static int resolve_option(const struct fence_plan *plan, const char *option, const char *path,
			  struct list *passed, char **ret_real, struct stat *ret_status,
			  struct error *err)
{
	__attribute__((cleanup(resolution_release))) struct resolution walk = {
		.plan = plan, .option = option, .path = path, .passed = passed, .at = -1
	};

	if (strlen(path) >= PATH_MAX) {
		errno = ENAMETOOLONG;
		return error_sys(err, "%s '%.60s...'", option, path);
	}
	walk.rest = walk.next = mem_dup(path);
	walk.real = mem_dup("/");
	walk.at = open("/", O_PATH | O_CLOEXEC);
	if (resolve_components(&walk, ret_status, err) < 0)
		return -1;
	*ret_real = walk.real;
	walk.real = NULL;
	return 0;
}

/* A writable path inside the project makes the rest of the project read-only. */
static void narrow_project(struct fence_plan *plan)
{
	struct fence_rule *project = &plan->rules[0];

	if (plan->whole)
		project->access = WIRE_WRITE;
	for (size_t i = 1; i < plan->rule_count && !plan->whole; i++)
		if (plan->rules[i].access == WIRE_WRITE &&
		    path_within(plan->rules[i].path, plan->project)) {
			project->access = WIRE_READ;
			free(project->origin);
			project->origin = mem_dup(plan->rules[i].origin);
			return;
		}
}

/* Decides whose files the command writes there: the user's, or those of a draft. */
static void set_writer(const struct fence_plan *plan, struct fence_rule *rule)
{
	bool writes = rule->access == WIRE_WRITE || rule->project;

	rule->draft = writes && plan->spec->draft && path_within(rule->path, plan->project);
	rule->lent = writes && !rule->draft;
}

typedef int permit_fn(const struct fence_plan *plan, const char *option, const char *path,
		      struct error *err);

static int add_options(struct fence_plan *plan, const char *key, const struct fence_paths *paths,
		       enum wire_access access, permit_fn *permit, const char *base,
		       struct list *passed, struct error *err)
{
	for (size_t i = 0; i < paths->count; i++) {
		const struct fence_path *given = &paths->items[i];
		AUTO_FREE char *path = place_spelled(plan->identity.home, given->path, base);
		AUTO_FREE char *option = given->origin[0] == '-'
						 ? mem_dup(given->origin)
						 : mem_format("%s: %s", given->origin, key);
		AUTO_FREE char *real = NULL;
		struct stat status;

		if (!given->path[0])
			return error_set(err, "%s needs a path", option);
		if (resolve_option(plan, option, path, passed, &real, &status, err) < 0) {
			/* A missing file needs no hiding, and settings files are shared between
			 * machines. */
			if (errno == ENOENT && (access == WIRE_HIDE || given->origin[0] != '-')) {
				list_printf(&plan->notices, "%s %s: no such file", option, path);
				continue;
			}
			return -1;
		}
		if (permit(plan, option, real, err) < 0)
			return -1;
		if (access == WIRE_WRITE && strcmp(real, plan->project) == 0) {
			plan->whole = true; /* same as the project's own rule */
			continue;
		}
		ruleset_add(plan, real, &status, access, given->origin, !given->weak);
		plan->rules[plan->rule_count - 1].asked = true;
		plan->rules[plan->rule_count - 1].weak = given->weak;
		plan->rules[plan->rule_count - 1].root = access != WIRE_HIDE;
		set_writer(plan, &plan->rules[plan->rule_count - 1]);
	}
	return 0;
}

/* Adds rules for secrets and tool chains in the home folder, and for Ringfence's own programs. */
static void add_builtin(struct fence_plan *plan, const struct home *names)
{
	AUTO_FREE char *self = realpath("/proc/self/exe", NULL);

	for (const char *const *at = defaults_home_secrets; *at && plan->identity.home[0]; at++) {
		AUTO_FREE char *path = path_join(plan->identity.home, *at);

		if (fence_plan_decide(plan, path)) /* otherwise it does not exist inside */
			ruleset_add_existing(plan, path, WIRE_HIDE, "credentials", true);
	}
	for (const char *const *at = defaults_home_toolchains; *at && plan->identity.home[0];
	     at++) {
		AUTO_FREE char *path = NULL;

		if (!home_may_have(names, *at))
			continue;
		path = path_join(plan->identity.home, *at);
		ruleset_add_existing(plan, path, WIRE_READ, "tool chains", true);
	}
	if (self && fence_plan_decide(plan, self))
		ruleset_add_existing(plan, self, WIRE_READ, "ringfence", true);
	if (fence_plan_decide(plan, plan->init))
		ruleset_add_existing(plan, plan->init, WIRE_READ, "ringfence", true);
}

/* If the command could replace the socket, it could redirect connections to any other socket. */
static int check_listens(const struct fence_plan *plan, struct list *passed, struct error *err)
{
	for (size_t i = 0; i < plan->spec->listen_count; i++) {
		const char *socket = plan->spec->listens[i].socket;
		AUTO_FREE char *folder = socket ? path_absolute(socket, "/") : NULL;
		AUTO_FREE char *real = NULL;
		struct stat status;

		if (!socket)
			continue;
		*strrchr(folder, '/') = '\0';
		if (resolve_option(plan, "--listen", *folder ? folder : "/", passed, &real, &status,
				   err) < 0)
			return -1;
		if (in_reach(plan, real))
			return error_set(
				err,
				"--listen: the command could replace the socket '%s', because it may write to "
				"that folder; use a socket outside the project",
				socket);
	}
	return 0;
}

/* A later option can make the folder of an earlier option's symlink writable. */
static int check_passed(const struct fence_plan *plan, const struct list *passed, struct error *err)
{
	for (size_t i = 0; i < passed->count; i++)
		if (in_reach(plan, passed->items[i]))
			return error_set(
				err,
				"a path passes through a symlink in '%s', which the command could "
				"change; use the real path",
				passed->items[i]);
	return 0;
}

static int find_cwd(struct fence_plan *plan, const char *base, struct error *err)
{
	const char *wanted = plan->spec->cwd;

	if (wanted) {
		AUTO_FREE char *path = place_spelled(plan->identity.home, wanted, base);
		struct stat status;

		plan->cwd = place_resolve("--cwd", path, err);
		if (!plan->cwd)
			return -1;
		if (!path_within(plan->cwd, plan->project))
			return error_set(err, "--cwd '%s' is outside the project '%s'", plan->cwd,
					 plan->project);
		if (stat(plan->cwd, &status) < 0 || !S_ISDIR(status.st_mode))
			return error_set(err, "--cwd '%s' is not a folder", plan->cwd);
	} else {
		AUTO_FREE char *here = realpath(".", NULL);

		plan->cwd = mem_dup(here && path_within(here, plan->project) ? here
									     : plan->project);
	}

	const struct fence_rule *rule = fence_plan_decide(plan, plan->cwd);

	if (rule && rule->access >= WIRE_HIDE)
		return error_set(err, "the working directory '%s' is hidden (%s)", plan->cwd,
				 rule->origin);
	return 0;
}

static void copy_place(struct fence_plan *plan, const struct fence_place *place)
{
	plan->identity = place->identity;
	plan->identity.name = mem_dup(place->identity.name);
	plan->identity.home = mem_dup(place->identity.home);
	plan->identity.passwd_home = mem_dup(place->identity.passwd_home);
	plan->project = mem_dup(place->project);
	plan->state = mem_dup(place->state);
}

/* Uses the spec's place if it has one, or finds the place of its project. */
static int find_place(struct fence_plan *plan, struct error *err)
{
	struct fence_place place;

	if (plan->spec->place) {
		copy_place(plan, plan->spec->place);
		return 0;
	}
	if (fence_place_find(plan->spec->project, &place, err) < 0)
		return -1;
	copy_place(plan, &place);
	fence_place_release(&place);
	return 0;
}

static int find_project(struct fence_plan *plan, struct stat *ret_status, struct error *err)
{
	if (find_place(plan, err) < 0)
		return -1;
	if (stat(plan->project, ret_status) < 0 || !S_ISDIR(ret_status->st_mode))
		return error_set(err, "--project '%s' is not a folder", plan->project);
	return permit_writable(plan, plan->spec->project ? "--project" : "the current folder",
			       plan->project, err);
}

/* Adds the rules that the user asked for, the project's first. */
static int add_requested(struct fence_plan *plan, const struct stat *project, const char *base,
			 struct error *err)
{
	__attribute__((cleanup(list_release))) struct list passed = { 0 };
	const struct fence_spec *spec = plan->spec;

	ruleset_add(plan, plan->project, project, spec->read_only ? WIRE_READ : WIRE_WRITE,
		    spec->read_only && spec->read_only_origin ? spec->read_only_origin : built_in,
		    true);
	plan->rules[0].root = plan->rules[0].project = true;
	set_writer(plan, &plan->rules[0]);
	if (add_options(plan, "write", &spec->write, WIRE_WRITE, permit_writable, base, &passed,
			err) < 0)
		return -1;
	narrow_project(plan);
	if (add_options(plan, "read", &spec->read, WIRE_READ, permit_readable, base, &passed, err) <
		    0 ||
	    add_options(plan, "hide", &spec->hide, WIRE_HIDE, permit_hidden, base, &passed, err) <
		    0 ||
	    check_listens(plan, &passed, err) < 0)
		return -1;
	return check_passed(plan, &passed, err);
}

static int scan_roots(struct fence_plan *plan, struct error *err)
{
	size_t roots = plan->rule_count;

	for (size_t i = 0; i < roots; i++)
		if (plan->rules[i].root && plan->rules[i].is_dir && scan_tree(plan, i, err) < 0)
			return -1;
	return 0;
}

/* Scans, and makes the rules final. No other run's record may vanish meanwhile: what that run made
 * is not the user's. */
static int make_rules(struct fence_plan *plan, struct error *err)
{
	AUTO_FD lock = run_record_hold(plan->state);

	if (scan_roots(plan, err) < 0)
		return -1;
	if (plan->spec->before)
		protection_add_original(plan, plan->spec->before);
	protection_hide_closed(plan);
	ruleset_drop_weak(plan);
	if (cover_add(plan, err) < 0)
		return -1;
	ruleset_collapse(plan);
	known_settle(plan);
	return run_record_inherit(plan, err);
}

/* Adds all rules that need no scan. */
static int add_rules(struct fence_plan *plan, struct error *err)
{
	AUTO_FREE char *base = getcwd(NULL, 0);
	struct stat project;
	struct home names;

	if (access("/proc/self/fd", X_OK) < 0)
		return error_sys(
			err,
			"/proc is not mounted, and the fence cannot be verified without it (mount -t proc proc /proc)");
	if (find_project(plan, &project, err) < 0 ||
	    process_beside("ringfence-init", &plan->init, err) < 0 ||
	    add_requested(plan, &project, base ? base : "/", err) < 0)
		return -1;
	home_read(plan->identity.home, &names);
	if (protection_add_home(plan, &names, err) < 0)
		return -1;
	add_builtin(plan, &names);
	return 0;
}

/* Returns the protections that this kernel lacks, as bits of enum fence_weaker. */
static unsigned int missing_here(const struct fence_plan *plan)
{
	enum { ABI_USABLE = 2, ABI_SCOPES = 6 };
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0,
			   1 /* LANDLOCK_CREATE_RULESET_VERSION */);
	unsigned int missing = 0;

	if (abi < ABI_USABLE)
		missing |= FENCE_WEAKER_LANDLOCK;
	if (abi < ABI_SCOPES && plan->spec->net == FENCE_NET_OPEN)
		missing |= FENCE_WEAKER_ABSTRACT_SOCKETS;
	return missing;
}

#define OR_NAME(name) ", " #name

/* Chooses the mechanism. Returns 0, or -1 with err set. */
static int choose_mechanism(struct fence_plan *plan, struct error *err)
{
	const struct fence_spec *spec = plan->spec;
	AUTO_FREE char *why = NULL;

	if (spec->accepted_weaker & FENCE_WEAKER_NO_FENCE)
		plan->mechanism = mechanism_find("none");
	else if (strcmp(spec->mechanism, "auto") == 0)
		plan->mechanism = mechanism_choose(spec->image != NULL, &why);
	else
		plan->mechanism = mechanism_find(spec->mechanism);
	if (!plan->mechanism)
		return error_set(err, "unknown mechanism '%s' (use auto%s)", spec->mechanism,
				 FENCE_MECHANISMS(OR_NAME));
	if (why)
		list_printf(&plan->notices, "the fence is made by %s: %s", plan->mechanism->name,
			    why);
	return plan->mechanism->detect(err);
}

int fence_plan_begin(const struct fence_spec *spec, struct fence_plan *ret_plan, struct error *err)
{
	struct fence_plan plan = { .spec = spec };

	if (choose_mechanism(&plan, err) < 0) {
		fence_plan_release(&plan);
		return -1;
	}
	plan.weaker = spec->accepted_weaker & missing_here(&plan);
	/* Quarantine what a killed run left before the scan records which files already exist; in
	 * the project itself, not in a draft's view. */
	if (add_rules(&plan, err) < 0 || (!spec->before && run_record_recover(&plan, err) < 0)) {
		fence_plan_release(&plan);
		return -1;
	}
	*ret_plan = plan;
	return 0;
}

int fence_plan_scan(struct fence_plan *plan, struct error *err)
{
	AUTO_FREE char *base = getcwd(NULL, 0);

	if (make_rules(plan, err) < 0 || find_cwd(plan, base ? base : "/", err) < 0 ||
	    ruleset_refuse_too_many(plan, err) < 0)
		return -1;
	run_home_choose(plan);
	return environment_make(plan, err) < 0 ? -1 : plan->mechanism->plan(plan, err);
}

int fence_plan_make(const struct fence_spec *spec, struct fence_plan *ret_plan, struct error *err)
{
	struct fence_plan plan;

	if (fence_plan_begin(spec, &plan, err) < 0)
		return -1;
	if (fence_plan_scan(&plan, err) < 0) {
		fence_plan_release(&plan);
		return -1;
	}
	*ret_plan = plan;
	return 0;
}

bool fence_plan_outside(const struct fence_plan *plan)
{
	return plan->outside;
}

const char *fence_plan_mechanism(const struct fence_plan *plan)
{
	return plan->mechanism->name;
}

void fence_plan_release(struct fence_plan *plan)
{
	identity_release(&plan->identity);
	free(plan->project);
	free(plan->cwd);
	free(plan->home);
	free(plan->tmp);
	free(plan->own);
	free(plan->state);
	free(plan->init);
	for (size_t i = 0; i < plan->rule_count; i++) {
		free(plan->rules[i].path);
		free(plan->rules[i].origin);
		free(plan->rules[i].source);
	}
	free(plan->rules);
	for (size_t i = 0; i < plan->known_count; i++)
		free(plan->known[i].path);
	free(plan->known);
	free(plan->seen);
	free(plan->secrets);
	free(plan->others);
	for (size_t i = 0; i < plan->link_count; i++) {
		free(plan->links[i].path);
		free(plan->links[i].target);
	}
	free(plan->links);
	fence_found_release(&plan->recovered);
	for (size_t i = 0; i < plan->witness_count; i++)
		free(plan->witnesses[i].path);
	free(plan->witnesses);
	list_release(&plan->ended);
	list_release(&plan->exempt);
	list_release(&plan->notices);
	list_release(&plan->environment);
	*plan = (struct fence_plan){ 0 };
}
