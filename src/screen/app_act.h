/* Actions on a loop from the screen, their questions, and rules for denials. */
#ifndef SCREEN_APP_ACT_H
#define SCREEN_APP_ACT_H

#include "screen/app_state.h"

/* The loop that an action would be for, as far as it is known; or NULL. */
const struct client_loop *app_act_loop(const struct app *app);

/* Begins an action: asks for its text or checkpoint, or starts it, which asks its question. */
void app_act_begin(struct app *app, enum op_action action);

/* Goes on after a yes, a text or a choice in the dialog. */
void app_act_confirmed(struct app *app);

/* Shows the rule that would allow what was denied in the iteration shown. */
void app_act_allow(struct app *app);

/* The descriptor of what is under way, or -1; when it is readable, read it. */
int app_act_fd(const struct app *app);
void app_act_read(struct app *app);

/* Sets the notice in the footer, or removes it. */
void app_act_tell(struct app *app, bool failed, const char *text);

#endif
