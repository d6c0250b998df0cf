"""Tests that cannot hold with a mechanism, each with its reason.

A row is (mechanism, test, reason). The mechanism is that of `tests/run.py --fence`, with `/root` or `/user` for one of
the identities. The test is the name of its function, with `: PATTERN` for some of its cases (fnmatch). Such a test is
tried all the same. It counts as weaker, not as failed; if it passes, it fails, and the row has to go. The table in
docs/containers.md has every row (scripts/check-containers).
"""

_NAMES = "names: nothing is hidden but content, so the errno is another one, or a name is seen"
_PROCESSES = ("processes: there is no pid namespace, so processes of the host are listed, and have "
         "errors of their own")
_NETWORK = ("network: there is no network namespace, so the host's interfaces are listed, and UDP is "
         "refused")
_TOKEN = ("network: the gateway's port is on the host's loopback, so it asks clients for the token "
         "of the run, which this client does not send")
_ABSTRACT = "abstract sockets of the command itself are refused with those of the host"
_CAPABILITIES = ("the capabilities that a user could regain are those of the host; no_new_privs keeps "
         "programs from it")
_CANARIES = "the canaries of namespaces and mounts do not apply"
_NEEDLESS = "it needs no user namespaces"
_LIMITS = ("limits of processes need a user namespace or a control group, and limits of temporary "
         "files a file system: both are refused")
_TMP = "there is no /tmp of the fence; TMPDIR names another folder"
_LISTEN = "the fence refuses --listen"
_STRICTER = ("stricter: a protected file cannot be written by another name, nor what it is in be "
         "moved, so that the test cannot plant")
_GIT = "git is read-only, because a private git directory needs mounts"
_LONG = "a path of more than 4,095 bytes cannot be made in a folder with something protected"
_TERMINAL = "the terminal is one of the host's, made for the run"
_MOMENTS = "of the moments that the test chooses, none is while the command runs"
_RENAMES = "folders of the project cannot be renamed in a draft (EXDEV), so that programs copy them"
_WATCHES = "in the user namespace that podman makes for a user, all watches of that user can be used up"
_UNTOLD = "it is denied by the seccomp profile of the container, without an explanation"
_HOST_USERS = "Docker gives a container no user namespace of its own, which every report says"

WEAKER = (
    ("docker", "test_36_clone_with_a_namespace_is_denied: user*", _UNTOLD),
    ("docker", "test_36_unshare_is_denied: user*", _UNTOLD),
    ("docker", "test_77_without_landlock_nothing_runs_unless_the_user_accepts_it", _HOST_USERS),
    ("docker", "test_77_accepting_a_weaker_fence_where_nothing_is_missing_weakens_nothing", _HOST_USERS),
    ("docker", "test_77_where_user_namespaces_are_forbidden_nothing_runs_and_the_remedy_is_named", _NEEDLESS),
    ("podman/user", "test_a_bomb_of_renames_ends", _RENAMES),
    ("podman/user", "test_a_folder_of_secrets_that_the_user_makes_meanwhile_is_hidden_where_it_was_moved", _RENAMES),
    ("podman/user", "test_a_folder_with_something_hidden_is_not_made_movable", _RENAMES),
    ("podman/user", "test_a_path_outside_is_not_renamed", _RENAMES),
    ("podman/user", "test_killed_at_any_step_nothing_is_lost", _RENAMES),
    ("podman/user", "test_symlinks_swapped_during_a_rename_lead_nowhere", _RENAMES),
    ("podman/user", "test_the_project_does_not_change_while_folders_are_renamed", _RENAMES),
    ("podman/user", "test_a_fence_leaves_watches_to_others", _WATCHES),
    ("landlock", "test_01_a_file_of_the_system_that_no_command_needs_cannot_be_read", _NAMES),
    ("landlock", "test_01_the_home_inside_is_empty_but_for_the_way_to_the_project", _NAMES),
    ("landlock", "test_26_nothing_else_is_in_dev", _NAMES),
    ("landlock", "test_44_a_file_of_the_hosts_dev_shm_is_not_visible", _NAMES),
    ("landlock", "test_50_there_is_no_sys_and_no_cgroup_inside", _NAMES),
    ("landlock", "test_44_a_shared_memory_segment_of_the_host_is_not_visible", _NAMES),
    ("landlock", "test_44_a_message_queue_of_the_host_is_not_visible", _NAMES),
    ("landlock", "test_03_no_process_of_the_host_is_seen_in_proc", _PROCESSES),
    ("landlock", "test_03_the_command_line_of_pid_1_does_not_show_what_is_hidden", _PROCESSES),
    ("landlock", "test_41_no_process_but_the_commands_own_and_init_is_seen", _PROCESSES),
    ("landlock", "test_42_a_process_of_the_host_cannot_be_signalled", _PROCESSES),
    ("landlock", "test_42_a_signal_to_everyone_finds_nobody", _PROCESSES),
    ("landlock", "test_42_the_init_of_the_fence_cannot_be_ended_by_a_signal", _PROCESSES),
    ("landlock", "test_the_gateway_cannot_be_seen_or_signalled_from_inside", _PROCESSES),
    ("landlock", "test_57_a_socket_family_that_commands_need_works: AF_INET datagram*", _NETWORK),
    ("landlock", "test_60_no_route_leads_out", _NETWORK),
    ("landlock", "test_60_only_loopback_is_there", _NETWORK),
    ("landlock", "test_59_the_gateway_of_another_fence_is_out_of_reach", _TOKEN),
    ("landlock", "test_60_nothing_is_reached_past_the_gateway: * 80 SOCK_STREAM", _TOKEN),
    ("landlock", "test_70_a_relay_inside_changes_no_verdict", _TOKEN),
    ("landlock", "test_71_a_name_that_is_refused_is_not_even_asked_for", _TOKEN),
    ("landlock", "test_71_no_name_is_resolved_inside", _TOKEN),
    ("landlock", "test_54_abstract_sockets_work_among_the_commands_own_processes", _ABSTRACT),
    ("landlock", "test_51_the_command_is_not_root_and_has_no_capability", _CAPABILITIES),
    ("landlock", "test_77_accepting_a_weaker_fence_where_nothing_is_missing_weakens_nothing", _CANARIES),
    ("landlock", "test_77_without_landlock_nothing_runs_unless_the_user_accepts_it", _CANARIES),
    ("landlock", "test_78_canaries_of_a_good_run_are_counted", _CANARIES),
    ("landlock", "test_78_every_weakness_has_its_canary_and_every_canary_a_weakness", _CANARIES),
    ("landlock", "test_77_where_user_namespaces_are_forbidden_nothing_runs_and_the_remedy_is_named", _NEEDLESS),
    ("landlock", "test_76_a_bomb_is_capped_and_named_and_its_neighbour_is_not_disturbed: processes*", _LIMITS),
    ("landlock", "test_76_a_bomb_of_small_processes_takes_itself_and_not_the_fence", _LIMITS),
    ("landlock", "test_a_repository_does_not_raise_what_is_bounded_anyway", _LIMITS),
    ("landlock", "test_a_fence_leaves_watches_to_others", _LIMITS),
    ("landlock", "test_a_project_in_var_tmp_works", _TMP),
    ("landlock", "test_45_descriptors_of_ringfence_itself_are_not_open_inside", _LISTEN),
    ("landlock", "test_47_a_descriptor_sent_over_the_listening_socket_does_not_arrive", _LISTEN),
    ("landlock", "test_a_plant_of_another_run_is_not_known: file", _STRICTER),
    ("landlock", "test_a_third_run_does_not_know_it_either", _STRICTER),
    ("landlock", "test_a_protected_file_that_was_changed_by_another_name_is_moved: .mcp.json", _STRICTER),
    ("landlock", "test_the_sweep_follows_a_root_that_another_fence_moves: * before", _STRICTER),
    ("landlock", "test_what_a_moved_root_holds_is_not_known_to_a_run_that_starts", _STRICTER),
    ("landlock", "test_nothing_that_an_agent_plants_for_git_runs_on_the_host", _GIT),
    ("landlock", "test_secrets_that_a_run_made_do_not_stop_the_next: a long path", _LONG),
    ("landlock", "test_40_the_terminal_of_the_caller_is_not_the_one_inside", _TERMINAL),
    ("landlock", "test_32_killed_at_any_instant_nothing_is_left", _MOMENTS),
)

# Tests whose own means do not work with a mechanism, so that they say nothing about it; with the reason. They are
# skipped. The rows are like those above.
_OWNER = "the owner of that project has no range of ids of its own"
_NOT_ROOT = "the owner of that project is not root, and Docker's fence is refused to others"
_DAEMON = "the state folder is on a disk that the test mounts, and Docker's daemon does not see that mount"
_MISLED = "the test leads Docker's client to a socket of its own; tests/containers has the attack on the real one"
_ELSEWHERE = "the test looks for the command below ringfence, and Docker's daemon starts it"
_TRACED = "the test traces podman, whose setuid programs then are not"
_SETTINGS = "podman is refused where an agent could change its settings, which are in the project here"
UNTRIED = (
    ("podman/user", "test_settings_at_home_that_lead_into_the_project_stay_closed", _SETTINGS),
    ("podman/user", "test_32_killed_at_any_instant_nothing_is_left", _TRACED),
    ("docker", "test_root_rehearses_and_applies_as_the_owner_of_the_project", _NOT_ROOT),
    ("docker", "test_root_rehearses_and_applies_as_the_owner_of_the_project_in_a_copy", _NOT_ROOT),
    ("docker", "test_the_owner_of_a_draft_that_root_rehearses_cannot_look_into_ringfence", _NOT_ROOT),
    ("docker", "test_the_owner_of_a_draft_that_root_rehearses_cannot_look_into_ringfence_in_a_copy", _NOT_ROOT),
    ("docker", "test_51_root_with_a_project_of_another_becomes_that_user", _NOT_ROOT),
    ("docker", "test_51_the_user_that_root_becomes_cannot_look_into_ringfence", _NOT_ROOT),
    ("docker", "test_the_state_of_another_users_project_is_that_users", _NOT_ROOT),
    ("docker", "test_a_full_disk_lets_no_plant_into_the_project", _DAEMON),
    ("docker", "test_a_full_disk_lets_no_plant_into_the_project_in_a_copy", _DAEMON),
    ("docker", "test_a_full_disk_does_not_keep_a_plant_in_place", _DAEMON),
    ("docker", "test_a_full_stderr_does_not_stop_the_clock", _ELSEWHERE),
    ("docker", "test_52_a_container_engines_socket_cannot_be_reached", _MISLED),
    ("podman/root", "test_root_rehearses_and_applies_as_the_owner_of_the_project", _OWNER),
    ("podman/root", "test_root_rehearses_and_applies_as_the_owner_of_the_project_in_a_copy", _OWNER),
    ("podman/root", "test_the_owner_of_a_draft_that_root_rehearses_cannot_look_into_ringfence", _OWNER),
    ("podman/root", "test_the_owner_of_a_draft_that_root_rehearses_cannot_look_into_ringfence_in_a_copy", _OWNER),
    ("podman/root", "test_51_root_with_a_project_of_another_becomes_that_user", _OWNER),
    ("podman/root", "test_51_the_user_that_root_becomes_cannot_look_into_ringfence", _OWNER),
    ("podman/root", "test_the_state_of_another_users_project_is_that_users", _OWNER),
)
