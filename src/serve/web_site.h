/* The parts of the web page's server, which all of its requests share. */
#ifndef SERVE_WEB_SITE_H
#define SERVE_WEB_SITE_H

#include "serve/web_feed.h"
#include "serve/web_job.h"
#include "serve/web_keys.h"
#include "serve/web_stream.h"

struct web_request;

struct web_site {
	unsigned int port;
	const char *authority; /* "127.0.0.1:7433" */
	struct web_keys keys;
	struct web_job_list jobs;
	struct web_feed feed;
	struct web_stream_list streams;
	struct web_request *waiting; /* requests that wait for a job */
	bool resumed;                /* one of them does not wait any more */
};

#endif
