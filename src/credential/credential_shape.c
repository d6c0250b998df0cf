/* The table of shapes: see credential_shape.h. */
#include "credential/credential_shape.h"

#define ALNUM "A-Za-z0-9"
#define WORD  "A-Za-z0-9_"
#define URL   "A-Za-z0-9_-" /* base64 for URLs */

const struct credential_shape credential_shapes[] = {
	{ "AWS access key", "AKIA", "A-Z2-7", 16, 16 },
	{ "AWS access key", "ASIA", "A-Z2-7", 16, 16 },
	{ "Anthropic key", "sk-ant-", URL, 40, 0 },
	{ "DigitalOcean token", "dop_v1_", "a-f0-9", 64, 64 },
	{ "GitHub token", "ghp_", ALNUM, 36, 36 },
	{ "GitHub token", "gho_", ALNUM, 36, 36 },
	{ "GitHub token", "ghu_", ALNUM, 36, 36 },
	{ "GitHub token", "ghs_", ALNUM, 36, 36 },
	{ "GitHub token", "ghr_", ALNUM, 36, 36 },
	{ "GitHub token", "github_pat_", WORD, 60, 100 },
	{ "GitLab token", "glpat-", URL, 20, 0 },
	{ "Google API key", "AIza", URL, 35, 35 },
	{ "Hugging Face token", "hf_", ALNUM, 34, 34 },
	{ "npm token", "npm_", ALNUM, 36, 36 },
	{ "OpenAI key", "sk-proj-", URL, 40, 0 },
	{ "OpenAI key", "sk-svcacct-", URL, 40, 0 },
	{ "OpenAI key", "sk-admin-", URL, 40, 0 },
	{ "OpenAI key", "sk-", URL, 40, 0, "T3BlbkFJ" },
	{ "PyPI token", "pypi-AgE", URL, 50, 0 },
	{ "SendGrid key", "SG.", URL ".", 60, 70 },
	{ "Slack token", "xapp-", ALNUM "-", 30, 0 },
	{ "Slack token", "xoxa-", ALNUM "-", 24, 0 },
	{ "Slack token", "xoxb-", ALNUM "-", 24, 0 },
	{ "Slack token", "xoxe-", ALNUM "-", 24, 0 },
	{ "Slack token", "xoxp-", ALNUM "-", 24, 0 },
	{ "Slack token", "xoxr-", ALNUM "-", 24, 0 },
	{ "Slack token", "xoxs-", ALNUM "-", 24, 0 },
	{ "Slack webhook", "https://hooks.slack.com/services/", ALNUM "/", 40, 0 },
	{ "Stripe key", "rk_live_", ALNUM, 24, 0 },
	{ "Stripe key", "sk_live_", ALNUM, 24, 0 },
	{ "Stripe key", "whsec_", ALNUM, 32, 0 },
	{ 0 },
};
