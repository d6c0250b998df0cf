/*
 * The names of the mechanisms that a user can choose (mechanism/mechanism.h). The choices of the
 * setting `fence` and the table of mechanisms are made from this list.
 */
#ifndef FENCE_FENCE_MECHANISMS_H
#define FENCE_FENCE_MECHANISMS_H

#define FENCE_MECHANISMS(X) X(bwrap) X(podman) X(docker) X(landlock)

/* Those whose commands share the host's namespaces: they have no mounts of their own. */
#define FENCE_MECHANISMS_SHARING(X) X(landlock)

#endif
