/* Names of what a fence lacks: see fence_weaker.h. */
#include "fence/fence_weaker.h"

#include "fence/fence_spec.h"

static const struct fence_weaker_entry entries[] = {
	{ FENCE_WEAKER_NO_FENCE, "no fence", "nothing is confined" },
	{ FENCE_WEAKER_LANDLOCK, "landlock", "only mounts decide what is writable" },
	{ FENCE_WEAKER_ABSTRACT_SOCKETS, "abstract-sockets",
	  "the host's abstract unix sockets can be reached" },
	{ FENCE_WEAKER_USER_NAMESPACE, "user-namespace",
	  "the command's user id is that of the host" },
	{ FENCE_WEAKER_NAMES, "names",
	  "names, sizes and times of all files can be seen; their content cannot be read" },
	{ FENCE_WEAKER_PROCESSES, "processes",
	  "the processes of the machine can be listed, with their arguments" },
	{ FENCE_WEAKER_NETWORK, "network", "the host's interfaces and connections can be listed" },
	{ FENCE_WEAKER_LIFETIME, "lifetime",
	  "if ringfence and ringfence-init are killed at the same time, the command goes on, still "
	  "confined" },
	{ FENCE_WEAKER_SIGNALS, "signals", "other processes of the user can be sent signals" },
};

const struct fence_weaker_entry *fence_weaker_at(size_t index)
{
	return index < sizeof entries / sizeof *entries ? &entries[index] : NULL;
}

unsigned int fence_weaker_shared(bool scopes)
{
	unsigned int bits = FENCE_WEAKER_NAMES | FENCE_WEAKER_PROCESSES | FENCE_WEAKER_NETWORK |
			    FENCE_WEAKER_LIFETIME;

	return scopes ? bits : bits | FENCE_WEAKER_SIGNALS;
}
