/* The names of the kinds of drafts, the best first, and the entry of a draft's folder that tells
 * its kind. The choices of the setting `draft-kind` and the table of kinds (draft_kind.h) are made
 * from this list. */
#ifndef DRAFT_DRAFT_KINDS_H
#define DRAFT_DRAFT_KINDS_H

#define DRAFT_KINDS(X) X(overlay, "upper") X(copy, "files")

#endif
