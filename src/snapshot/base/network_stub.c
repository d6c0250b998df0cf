/*
 * libgit2 can talk to servers with SSH and Kerberos. This program uses no network, so these stubs
 * stand for both libraries where libgit2 is linked as an archive: nothing else calls them, and
 * loading the libraries took longer than a small checkpoint.
 */
#define STUB(name, result)     \
	int name(void);        \
	int name(void)         \
	{                      \
		return result; \
	}

extern void *const GSS_C_NT_HOSTBASED_SERVICE;
void *const GSS_C_NT_HOSTBASED_SERVICE = 0;

enum { GSS_FAILURE = 13 << 16, SSH_FAILURE = -1 };

STUB(gss_delete_sec_context, GSS_FAILURE)
STUB(gss_display_status, GSS_FAILURE)
STUB(gss_import_name, GSS_FAILURE)
STUB(gss_indicate_mechs, GSS_FAILURE)
STUB(gss_init_sec_context, GSS_FAILURE)
STUB(gss_release_buffer, GSS_FAILURE)
STUB(gss_release_name, GSS_FAILURE)
STUB(gss_release_oid_set, GSS_FAILURE)

/* Called at the start, and must succeed. */
STUB(libssh2_init, 0)
STUB(libssh2_agent_connect, SSH_FAILURE)
STUB(libssh2_agent_disconnect, SSH_FAILURE)
STUB(libssh2_agent_free, SSH_FAILURE)
STUB(libssh2_agent_get_identity, SSH_FAILURE)
STUB(libssh2_agent_init, SSH_FAILURE)
STUB(libssh2_agent_list_identities, SSH_FAILURE)
STUB(libssh2_agent_userauth, SSH_FAILURE)
STUB(libssh2_channel_close, SSH_FAILURE)
STUB(libssh2_channel_free, SSH_FAILURE)
STUB(libssh2_channel_open_ex, SSH_FAILURE)
STUB(libssh2_channel_process_startup, SSH_FAILURE)
STUB(libssh2_channel_read_ex, SSH_FAILURE)
STUB(libssh2_channel_set_blocking, SSH_FAILURE)
STUB(libssh2_channel_write_ex, SSH_FAILURE)
STUB(libssh2_exit, SSH_FAILURE)
STUB(libssh2_hostkey_hash, SSH_FAILURE)
STUB(libssh2_knownhost_checkp, SSH_FAILURE)
STUB(libssh2_knownhost_free, SSH_FAILURE)
STUB(libssh2_knownhost_init, SSH_FAILURE)
STUB(libssh2_knownhost_readfile, SSH_FAILURE)
STUB(libssh2_session_abstract, SSH_FAILURE)
STUB(libssh2_session_disconnect_ex, SSH_FAILURE)
STUB(libssh2_session_free, SSH_FAILURE)
STUB(libssh2_session_handshake, SSH_FAILURE)
STUB(libssh2_session_hostkey, SSH_FAILURE)
STUB(libssh2_session_init_ex, SSH_FAILURE)
STUB(libssh2_session_last_error, SSH_FAILURE)
STUB(libssh2_session_method_pref, SSH_FAILURE)
STUB(libssh2_session_set_blocking, SSH_FAILURE)
STUB(libssh2_userauth_authenticated, SSH_FAILURE)
STUB(libssh2_userauth_keyboard_interactive_ex, SSH_FAILURE)
STUB(libssh2_userauth_list, SSH_FAILURE)
STUB(libssh2_userauth_password_ex, SSH_FAILURE)
STUB(libssh2_userauth_publickey, SSH_FAILURE)
STUB(libssh2_userauth_publickey_fromfile_ex, SSH_FAILURE)
STUB(libssh2_userauth_publickey_frommemory, SSH_FAILURE)
