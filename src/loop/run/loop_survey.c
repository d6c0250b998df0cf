/* Surveys of a loop's project: see loop_survey.h. */
#include "loop/run/loop_survey.h"

#include "draft/draft.h"
#include "loop/run/loop_git.h"
#include "util/mem.h"

int loop_survey_take(const struct supervisor *sup, struct survey *ret_survey, struct error *err)
{
	const struct loop_options *options = &sup->state.options;
	AUTO_FREE char *git = loop_git_place(sup);
	AUTO_FREE char *files = options->draft ? draft_files(options->draft, err)
					       : mem_dup(options->project);

	if (!files)
		return -1;
	if (sup->checkpoint.current && sup->checkpoint.tallied)
		*ret_survey = sup->checkpoint.tally;
	else if (survey_take(sup->survey.memory, files, ret_survey, err) < 0)
		return -1;
	survey_head(git, ret_survey);
	return 0;
}

void loop_survey_is_current(struct supervisor *sup)
{
	sup->survey.current = true;
	sup->survey.checkpoint = sup->checkpoint.current && sup->checkpoint.tallied
					 ? sup->state.checkpoint
					 : -1;
}
