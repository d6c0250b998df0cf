/* From spec to plan: every path resolved once, every rule judged. See fence.h. */
#include "fence/builtin.h"
#include "fence/environment.h"
#include "fence/fence.h"
#include "fence/identity.h"
#include "fence/run.h"
#include "fence/scan.h"
#include "fence/sweep.h"
#include "util/fd.h"
#include "util/mem.h"
#include "util/path.h"
#include "util/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Each rule is a mount, and each mount is compared with each rule by a canary: 5,000 take a second and a
 * half. */
enum { MOST_RULES = 5000 };

static const char origin_project[] = "project";

/* The text with a leading ~ expanded, made absolute; not resolved. The caller frees. */
static char *spelled(const char *home, const char *text, const char *base)
{
	if (text[0] == '~' && (text[1] == '/' || text[1] == '\0') && home[0]) {
		AUTO_FREE char *joined = path_join(home, text[1] ? text + 2 : ".");

		return path_absolute(joined, base);
	}
	return path_absolute(text, base);
}

/* The real path of something that must exist. The caller frees; NULL with err set. */
static char *resolve(const char *option, const char *path, struct error *err)
{
	char *real = realpath(path, NULL);

	if (!real)
		error_sys(err, "%s '%s'", option, path);
	return real;
}

/* Is this folder one in which the command may replace entries: in this run, or in the one before?
 */
static bool in_reach(const struct fence_plan *plan, const char *folder)
{
	for (size_t i = 0; i < plan->rule_count; i++)
		if ((plan->rules[i].access == WIRE_WRITE || plan->rules[i].project) &&
		    path_within(folder, plan->rules[i].path))
			return true;
	return false;
}

/*
 * The real path of what an option names, and what is there, found step by step so that nobody can
 * swap a part of it between two looks. A symlink in reach of the command is refused: whoever can
 * replace it decides where the path leads. The caller frees *ret_real. Returns 0, or -1 with err
 * set and errno.
 */
static int resolve_option(const struct fence_plan *plan, const char *option, const char *path,
			  struct list *passed, char **ret_real, struct stat *ret_status,
			  struct error *err)
{
	enum { MOST_LINKS = 40 };
	AUTO_FREE char *rest = mem_dup(path);
	AUTO_FREE char *real = mem_dup("/");
	AUTO_FD at = open("/", O_PATH | O_CLOEXEC);
	char *next = rest;
	int links = 0;

	if (strlen(path) >= PATH_MAX) {
		errno = ENAMETOOLONG;
		return error_sys(err, "%s '%.60s...'", option, path);
	}

	for (char *name; (name = strsep(&next, "/"));) {
		if (!*name || strcmp(name, ".") == 0)
			continue;

		AUTO_FD entry = openat(at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		char target[PATH_MAX];
		ssize_t n;

		if (entry < 0 || fstat(entry, ret_status) < 0)
			return error_sys(err, "%s '%s'", option, path);
		if (!S_ISLNK(ret_status->st_mode)) {
			AUTO_FREE char *joined = path_join(real, name);
			char *longer = path_absolute(joined,
						     "/"); /* a ".." that came from a symlink */

			free(real);
			real = longer;
			fd_close(&at);
			at = fd_steal(&entry);
			continue;
		}
		if (in_reach(plan, real)) {
			errno = ELOOP;
			return error_set(
				err,
				"%s '%s' passes through the symlink '%s/%s', which the command could change; name the real path",
				option, path, real, name);
		}
		list_add(passed, real); /* judged again when all options are known */
		errno = ELOOP;
		if (++links > MOST_LINKS ||
		    (n = readlinkat(entry, "", target, sizeof target - 1)) < 0)
			return error_sys(err, "%s '%s'", option, path);
		target[n] = '\0';

		char *longer = path_join(target, next ? next : "");

		free(rest);
		rest = next = longer;
		if (target[0] == '/') {
			fd_close(&at);
			at = open("/", O_PATH | O_CLOEXEC);
			free(real);
			real = mem_dup("/");
		}
	}
	if (at < 0 || fstat(at, ret_status) < 0)
		return error_sys(err, "%s '%s'", option, path);
	*ret_real = real;
	real = NULL;
	return 0;
}

/* Does one of a list's places below home overlap with the path? (above it, below it, or the same)
 */
static const char *overlap(const char *home, const char *const *list, const char *path)
{
	static char place[PATH_MAX];

	if (!home[0])
		return NULL;
	for (; *list; list++) {
		snprintf(place, sizeof place, "%s/%s", home, *list);
		if (path_within(path, place) || path_within(place, path))
			return place;
	}
	return NULL;
}

/* Folders that are too wide to be given to a command, in any spelling. */
static int refuse_wide(const struct fence_plan *plan, const char *option, const char *path,
		       struct error *err)
{
	const struct fence_identity *identity = &plan->identity;

	for (const char *const *wide = builtin_wide; *wide; wide++)
		if (strcmp(path, *wide) == 0)
			return error_set(
				err,
				"%s '%s' is refused: it holds more than one project; name a folder below it",
				option, path);
	if ((identity->home[0] && path_within(identity->home, path)) ||
	    (identity->passwd_home[0] && path_within(identity->passwd_home, path)))
		return error_set(
			err,
			"%s '%s' is refused: that is your home folder or contains it; name a folder below it",
			option, path);
	if (path_within(plan->state, path) || path_within(path, plan->state))
		return error_set(err, "%s '%s' is refused: Ringfence keeps its own state in '%s'",
				 option, path, plan->state);
	return 0;
}

static int refuse_writable(const struct fence_plan *plan, const char *option, const char *path,
			   struct error *err)
{
	const char *place = NULL;

	if (refuse_wide(plan, option, path, err) < 0)
		return -1;
	for (const char *const *system = builtin_system; *system; system++)
		if (path_within(path, *system) || path_within(*system, path))
			return error_set(err, "%s '%s' is refused: '%s' belongs to the system",
					 option, path, *system);
	if (!place)
		place = overlap(plan->identity.home, builtin_home_executed, path);
	if (!place)
		place = overlap(plan->identity.home, builtin_home_secrets, path);
	if (place)
		return error_set(
			err,
			"%s '%s' is refused: '%s' is protected (the host executes it, or it holds credentials)",
			option, path, place);
	return 0;
}

static int refuse_readable(const struct fence_plan *plan, const char *option, const char *path,
			   struct error *err)
{
	static const char *const whole[] = { "/etc", "/run", "/var/run", "/proc",
					     "/sys", "/dev", NULL };
	AUTO_FREE char *secret = NULL;

	if (refuse_wide(plan, option, path, err) < 0)
		return -1;
	for (const char *const *at = whole; *at; at++)
		if (strcmp(path, *at) == 0 ||
		    (strncmp(*at, "/proc", 5) == 0 && path_within(path, *at)))
			return error_set(
				err, "%s '%s' is refused: name the files below it that are needed",
				option, path);
	for (const char *const *at = builtin_home_secrets; *at && plan->identity.home[0]; at++) {
		free(secret);
		secret = path_join(plan->identity.home, *at);
		if (strcmp(path, secret) == 0)
			return error_set(
				err,
				"%s '%s' is refused: it holds credentials; name the file in it that is needed",
				option, path);
	}
	return 0;
}

int fence_plan_permits(const struct fence_plan *plan, bool writable, const char *path,
		       struct error *err)
{
	return writable ? refuse_writable(plan, "write", path, err)
			: refuse_readable(plan, "read", path, err);
}

/* Naming what may be written in the project makes the rest of it read-only; what is outside does not. */
static void narrow_project(struct fence_plan *plan)
{
	struct fence_rule *project = &plan->rules[0];

	if (plan->whole)
		project->access = WIRE_WRITE;
	for (size_t i = 1; i < plan->rule_count && !plan->whole; i++)
		if (plan->rules[i].access == WIRE_WRITE &&
		    path_within(plan->rules[i].path, plan->project))
			project->access = WIRE_READ;
}

typedef int judge_fn(const struct fence_plan *plan, const char *option, const char *path,
		     struct error *err);

static int add_options(struct fence_plan *plan, const char *key, const struct fence_paths *paths,
		       enum wire_access access, judge_fn *judge, const char *base,
		       struct list *passed, struct error *err)
{
	for (size_t i = 0; i < paths->count; i++) {
		const struct fence_path *given = &paths->items[i];
		AUTO_FREE char *path = spelled(plan->identity.home, given->path, base);
		AUTO_FREE char *option = given->origin[0] == '-'
						 ? mem_dup(given->origin)
						 : mem_format("%s: %s", given->origin, key);
		AUTO_FREE char *real = NULL;
		struct stat status;

		if (!given->path[0])
			return error_set(err, "%s needs a path", option);
		if (resolve_option(plan, option, path, passed, &real, &status, err) < 0) {
			/* What does not exist needs no hiding, and gets no stub; and a file of settings is
			 * for many machines. */
			if (errno == ENOENT && (access == WIRE_HIDE || given->origin[0] != '-')) {
				list_printf(&plan->notices, "%s %s: there is no such file", option,
					    path);
				continue;
			}
			return -1;
		}
		if (judge(plan, option, real, err) < 0)
			return -1;
		if (access == WIRE_WRITE && strcmp(real, plan->project) == 0) {
			plan->whole = true; /* the project's own rule, said again */
			continue;
		}
		plan_add_rule(plan, real, &status, access, given->origin, !given->weak);
		plan->rules[plan->rule_count - 1].weak = given->weak;
		plan->rules[plan->rule_count - 1].root = access != WIRE_HIDE;
		plan->rules[plan->rule_count - 1].lent = access == WIRE_WRITE;
	}
	return 0;
}

static int refuse_hidden(const struct fence_plan *plan, const char *option, const char *path,
			 struct error *err)
{
	for (const char *const *system = builtin_system; *system; system++)
		if (path_within(*system, path))
			return error_set(err, "%s '%s' is refused: nothing runs without '%s'",
					 option, path, *system);
	if (path_within(plan->project, path))
		return error_set(err, "%s '%s' is refused: it would hide the project itself",
				 option, path);
	return 0;
}

/* Of two rules that cover a path: the deeper one, then the one a person named, then the stricter.
 */
static bool beats(const struct fence_rule *a, const struct fence_rule *b)
{
	size_t left = strlen(a->path);
	size_t right = strlen(b->path);

	if (left != right)
		return left > right;
	if (a->exact != b->exact)
		return a->exact;
	return a->access > b->access;
}

const struct fence_rule *fence_plan_decide(const struct fence_plan *plan, const char *path)
{
	const struct fence_rule *best = NULL;

	for (size_t i = 0; i < plan->rule_count; i++)
		if (path_within(path, plan->rules[i].path) &&
		    (!best || beats(&plan->rules[i], best)))
			best = &plan->rules[i];
	return best;
}

static int by_path(const void *a, const void *b)
{
	const struct fence_rule *left = a;
	const struct fence_rule *right = b;
	int order = path_compare(left->path, right->path);

	if (order)
		return order;
	return beats(left, right) ? -1 : beats(right, left);
}

/* Is it there inside without any rule: part of the system? */
static bool part_of_system(const char *path)
{
	static const char *const shown[] = { "/usr", "/opt",  "/nix/store", "/etc",
					     "/bin", "/sbin", "/lib",       "/lib64" };

	for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
		if (path_within(path, shown[i]))
			return true;
	return false;
}

/* The rule of somebody else, or of a built-in table, that a weak one gives way to; NULL: none. */
static const struct fence_rule *stronger(const struct fence_plan *plan,
					 const struct fence_rule *rule)
{
	for (size_t i = 0; i < plan->rule_count; i++) {
		const struct fence_rule *other = &plan->rules[i];

		if (!other->weak && !other->project && path_within(rule->path, other->path))
			return other;
	}
	return NULL;
}

/* Before anything else is dropped: a rule that says nothing new may still be the one to give way
 * to. */
static void drop_weak(struct fence_plan *plan)
{
	for (size_t i = 0; i < plan->rule_count; i++) {
		struct fence_rule *rule = &plan->rules[i];
		const struct fence_rule *other = rule->weak ? stronger(plan, rule) : NULL;

		if (!other)
			continue;
		list_printf(&plan->notices, "%s: %s stays as it is (%s)", rule->origin, rule->path,
			    other->origin);
		free(rule->path);
		free(rule->origin);
		*rule = plan->rules[--plan->rule_count];
		i--;
	}
}

/*
 * Sorts the rules and drops those that say nothing new: beaten at the same path, or with the same
 * access as the rule above them. What is left is one mount each, parents first.
 */
static void collapse(struct fence_plan *plan)
{
	size_t *stack = mem_zero((plan->rule_count + 1) *
				 sizeof *stack); /* kept rules above the present one */
	size_t depth = 0;
	size_t kept = 0;
	char *decided = NULL; /* the path that was decided last; the winner comes first */

	qsort(plan->rules, plan->rule_count, sizeof *plan->rules, by_path);
	for (size_t i = 0; i < plan->rule_count; i++) {
		struct fence_rule rule = plan->rules[i];
		struct fence_rule *above = NULL;
		bool drop;

		while (depth > 0 && !path_within(rule.path, plan->rules[stack[depth - 1]].path))
			depth--;
		if (depth > 0)
			above = &plan->rules[stack[depth - 1]];
		if (decided && strcmp(decided, rule.path) == 0)
			drop = true;
		else if (!above)
			drop = rule.access == WIRE_HIDE && !part_of_system(rule.path);
		else if (above->access == WIRE_HIDE || above->access == WIRE_HIDE_AROUND)
			drop = rule.access == WIRE_HIDE || !rule.exact;
		else
			drop = above->access == rule.access;
		free(decided);
		decided = mem_dup(rule.path);
		if (drop) {
			free(rule.path);
			free(rule.origin);
			continue;
		}
		if (above && above->access == WIRE_HIDE)
			above->access = WIRE_HIDE_AROUND;
		plan->rules[kept] = rule;
		stack[depth++] = kept++;
	}
	plan->rule_count = kept;
	free(decided);
	free(stack);
}

static int refuse_too_many(const struct fence_plan *plan, struct error *err)
{
	size_t best = 0;
	size_t most = 0;

	if (plan->rule_count <= MOST_RULES)
		return 0;

	/* The folder in which most of them are; rules are sorted, so its entries are neighbours. */
	for (size_t i = 0, first = 0; i < plan->rule_count; i++) {
		const char *a = plan->rules[first].path;
		const char *b = plan->rules[i].path;
		size_t size = (size_t)(path_name(a) - a);

		if (size != (size_t)(path_name(b) - b) || strncmp(a, b, size) != 0)
			first = i;
		if (i - first + 1 > most) {
			most = i - first + 1;
			best = first;
		}
	}

	AUTO_FREE char *folder = mem_dup(plan->rules[best].path);

	*strrchr(folder, '/') = '\0';
	return error_set(
		err,
		"%zu rules are more than the %d that a fence can hold; %zu of them are in '%s': hide that folder as a "
		"whole (--hide '%s')",
		plan->rule_count, MOST_RULES, most, folder, folder);
}

/* ringfence-init is beside this program, or where it was installed to. */
static int find_init(struct fence_plan *plan, struct error *err)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	if (n < 0)
		return error_sys(err, "find this program through /proc (is /proc mounted?)");
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	plan->init = path_join(self, "ringfence-init");
	if (access(plan->init, X_OK) == 0)
		return 0;
	free(plan->init);
	plan->init = mem_dup(RINGFENCE_LIBEXECDIR "/ringfence-init");
	if (access(plan->init, X_OK) == 0)
		return 0;
	return error_sys(err, "ringfence-init is neither in '%s' nor at '%s'", self, plan->init);
}

/* Secrets of home, tool chains, and Ringfence itself. */
static void add_builtin(struct fence_plan *plan)
{
	AUTO_FREE char *self = realpath("/proc/self/exe", NULL);

	for (const char *const *at = builtin_home_secrets; *at && plan->identity.home[0]; at++) {
		AUTO_FREE char *path = path_join(plan->identity.home, *at);

		plan_add_existing(plan, path, WIRE_HIDE, "credentials", true);
	}
	for (const char *const *at = builtin_home_toolchains; *at && plan->identity.home[0]; at++) {
		AUTO_FREE char *path = path_join(plan->identity.home, *at);

		plan_add_existing(plan, path, WIRE_READ, "tool chains", true);
	}
	if (self && fence_plan_decide(plan, self))
		plan_add_existing(plan, self, WIRE_READ, "ringfence", true);
	if (fence_plan_decide(plan, plan->init))
		plan_add_existing(plan, plan->init, WIRE_READ, "ringfence", true);
}

/* A socket that the command can replace would lead it to any other one. */
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
				"--listen: the socket '%s' is where the command may write, and it could "
				"replace it; use one outside of the project",
				socket);
	}
	return 0;
}

/* A later option can bring an earlier one's symlink into the command's reach. */
static int check_passed(const struct fence_plan *plan, const struct list *passed, struct error *err)
{
	for (size_t i = 0; i < passed->count; i++)
		if (in_reach(plan, passed->items[i]))
			return error_set(
				err,
				"a path passes through a symlink in '%s', which the command could "
				"change; name the real path",
				passed->items[i]);
	return 0;
}

static int find_cwd(struct fence_plan *plan, const char *base, struct error *err)
{
	const char *wanted = plan->spec->cwd;

	if (wanted) {
		AUTO_FREE char *path = spelled(plan->identity.home, wanted, base);
		struct stat status;

		plan->cwd = resolve("--cwd", path, err);
		if (!plan->cwd)
			return -1;
		if (!path_within(plan->cwd, plan->project))
			return error_set(err, "--cwd '%s' is outside of the project '%s'",
					 plan->cwd, plan->project);
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

int fence_place_find(const char *project, struct fence_place *ret_place, struct error *err)
{
	struct fence_place place = { 0 };
	AUTO_FREE char *base = getcwd(NULL, 0);
	AUTO_FREE char *given = NULL;

	if (!base && !(project && (project[0] == '/' || project[0] == '~')))
		return error_sys(
			err,
			"the current directory (was it deleted? cd to another one, or give --project)");
	given = path_absolute(project && project[0] != '~' ? project : ".", base ? base : "/");
	if (identity_assume(given, &place.identity, err) < 0)
		return -1;
	if (project) {
		free(given);
		given = spelled(place.identity.home, project, base ? base : "/");
	}

	const struct state_owner owner = { place.identity.home, place.identity.caller,
					   place.identity.switched };

	place.project = resolve("--project", given, err);
	if (!place.project || state_find(&owner, &place.state, err) < 0) {
		fence_place_release(&place);
		return -1;
	}
	*ret_place = place;
	return 0;
}

void fence_place_release(struct fence_place *place)
{
	identity_release(&place->identity);
	free(place->project);
	free(place->state);
	*place = (struct fence_place){ 0 };
}

/* The plan's own copy of a place. */
static void take_place(struct fence_plan *plan, const struct fence_place *place)
{
	plan->identity = place->identity;
	plan->identity.name = mem_dup(place->identity.name);
	plan->identity.home = mem_dup(place->identity.home);
	plan->identity.passwd_home = mem_dup(place->identity.passwd_home);
	plan->project = mem_dup(place->project);
	plan->state = mem_dup(place->state);
}

/* The place that was found before, or the one that the spec names. */
static int find_place(struct fence_plan *plan, struct error *err)
{
	struct fence_place place;

	if (plan->spec->place) {
		take_place(plan, plan->spec->place);
		return 0;
	}
	if (fence_place_find(plan->spec->project, &place, err) < 0)
		return -1;
	take_place(plan, &place);
	fence_place_release(&place);
	return 0;
}

static int make(struct fence_plan *plan, struct error *err)
{
	__attribute__((cleanup(list_release))) struct list passed = { 0 };
	const struct fence_spec *spec = plan->spec;
	AUTO_FREE char *base = getcwd(NULL, 0);
	struct stat status;

	if (access("/proc/self/fd", X_OK) < 0)
		return error_sys(
			err,
			"/proc is not mounted, and no fence can be proven without it; mount -t proc proc /proc");
	if (find_place(plan, err) < 0)
		return -1;
	if (!base)
		base = mem_dup("/");
	if (stat(plan->project, &status) < 0 || !S_ISDIR(status.st_mode))
		return error_set(err, "--project '%s' is not a folder", plan->project);
	if (refuse_writable(plan, "--project", plan->project, err) < 0)
		return -1;
	if (find_init(plan, err) < 0)
		return -1;

	plan_add_rule(plan, plan->project, &status, spec->read_only ? WIRE_READ : WIRE_WRITE,
		      origin_project, true);
	plan->rules[0].root = plan->rules[0].lent = plan->rules[0].project = true;
	if (add_options(plan, "write", &spec->write, WIRE_WRITE, refuse_writable, base, &passed,
			err) < 0)
		return -1;
	narrow_project(plan);
	if (add_options(plan, "read", &spec->read, WIRE_READ, refuse_readable, base, &passed, err) <
		    0 ||
	    add_options(plan, "hide", &spec->hide, WIRE_HIDE, refuse_hidden, base, &passed, err) <
		    0 ||
	    check_listens(plan, &passed, err) < 0 || check_passed(plan, &passed, err) < 0)
		return -1;
	add_builtin(plan);

	/* What a killed run planted must be gone before this one takes stock of what was there. */
	if (run_recover(plan, err) < 0)
		return -1;

	size_t roots = plan->rule_count;

	for (size_t i = 0; i < roots; i++)
		if (plan->rules[i].root && plan->rules[i].is_dir && scan_tree(plan, i, err) < 0)
			return -1;
	drop_weak(plan);
	collapse(plan);
	if (find_cwd(plan, base, err) < 0 || refuse_too_many(plan, err) < 0)
		return -1;
	plan->home = plan->identity.home[0] ? mem_dup(plan->identity.home)
					    : path_join("/home", plan->identity.name);
	return environment_make(plan, err);
}

int fence_plan_make(const struct fence_spec *spec, struct fence_plan *ret_plan, struct error *err)
{
	struct fence_plan plan = { .spec = spec };

	plan.mechanism = fence_mechanism_find(
		spec->accepted_weaker & FENCE_WEAKER_NO_FENCE ? "none" : spec->mechanism);
	if (!plan.mechanism)
		return error_set(err, "there is no mechanism '%s' (auto, bwrap)", spec->mechanism);
	if (plan.mechanism->detect(err) < 0 || make(&plan, err) < 0 ||
	    plan.mechanism->plan(&plan, err) < 0) {
		fence_plan_release(&plan);
		return -1;
	}
	*ret_plan = plan;
	return 0;
}

void fence_plan_release(struct fence_plan *plan)
{
	identity_release(&plan->identity);
	free(plan->project);
	free(plan->cwd);
	free(plan->home);
	free(plan->state);
	free(plan->init);
	for (size_t i = 0; i < plan->rule_count; i++) {
		free(plan->rules[i].path);
		free(plan->rules[i].origin);
	}
	free(plan->rules);
	free(plan->known);
	for (size_t i = 0; i < plan->link_count; i++) {
		free(plan->links[i].path);
		free(plan->links[i].target);
	}
	free(plan->links);
	found_release(&plan->recovered);
	for (size_t i = 0; i < plan->witness_count; i++)
		free(plan->witnesses[i].path);
	free(plan->witnesses);
	list_release(&plan->exempt);
	list_release(&plan->notices);
	list_release(&plan->environment);
	*plan = (struct fence_plan){ 0 };
}
