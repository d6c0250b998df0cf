/* Removing what a killed process of ours, or a work that is over, has left. */
#ifndef SNAPSHOT_BASE_DISCARD_H
#define SNAPSHOT_BASE_DISCARD_H

/* Removes what is at a name, whatever it is, with all below; links are not followed. */
void discard(int folder, const char *name);

#endif
