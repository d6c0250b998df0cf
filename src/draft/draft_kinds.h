/* The names of the kinds of drafts, the best first; the entry of a draft's folder that holds its
 * files, and tells its kind; and whether these are laid over the project. The choices of the
 * setting `draft-kind` and the table of kinds (draft_kind.h) are made from this list. */
#ifndef DRAFT_DRAFT_KINDS_H
#define DRAFT_DRAFT_KINDS_H

#define DRAFT_KINDS(X) X(overlay, "upper", true) X(copy, "files", false)

#endif
