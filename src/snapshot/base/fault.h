/*
 * For tests: RINGFENCE_SNAPSHOT_FAULT=N ends this process, as kill -9 would, at its fault point number N. With N,stop it is
 * stopped there, and goes on when it is told to. There is one before and after each step that another process could see.
 */
#ifndef SNAPSHOT_BASE_FAULT_H
#define SNAPSHOT_BASE_FAULT_H

void fault_point(void);

#endif
