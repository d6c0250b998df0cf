/* A request and its response. */
#include "https/https_message.h"

void https_message_release(struct https_response *response)
{
	list_release(&response->headers);
	buffer_release(&response->body);
	*response = (struct https_response){ 0 };
}
