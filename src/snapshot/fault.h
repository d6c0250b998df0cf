/*
 * For the crash tests: RINGFENCE_SNAPSHOT_FAULT=N ends this process, as kill -9 would, at its fault point
 * number N; Ns stops it there. There is one before and after each step that another process could see.
 */
#ifndef SNAPSHOT_FAULT_H
#define SNAPSHOT_FAULT_H

void fault_point(void);

#endif
