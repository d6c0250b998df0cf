/*
 * For tests: RINGFENCE_SNAPSHOT_FAULT=N kills this process with SIGKILL at its Nth fault point;
 * "N,stop" sends SIGSTOP instead. There is a fault point before and after each step that another
 * process can observe.
 */
#ifndef SNAPSHOT_BASE_FAULT_H
#define SNAPSHOT_BASE_FAULT_H

void fault_point(void);

#endif
