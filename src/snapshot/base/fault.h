/*
 * For the crash tests: RINGFENCE_SNAPSHOT_FAULT=N ends this process, as kill -9 would, at its fault point
 * number N. There is one before and after each step that another process could see.
 */
#ifndef SNAPSHOT_BASE_FAULT_H
#define SNAPSHOT_BASE_FAULT_H

void fault_point(void);

#endif
