"""The setting `image`, and what `ringfence image` and `trust --devcontainer` say without an engine."""

import json

from harness import cases, contains, equal

ANY_IDENTITY = "images are refused, listed and printed alike for every user"


def ringfence(t, *words, **options):
    return t.run([t.ringfence, *words], **options)


# The setting

@cases((), ("--fence", "auto"), ("--fence", "bwrap"))
def test_a_fence_without_a_container_refuses_an_image(t, *opts):
    equal(t.fence("true", opts=opts).code, 0, "exit status without an image")
    result = t.fence("touch", "made", opts=(*opts, "--image", "ringfence/claude"))
    equal(result.code, 125, "exit status", result)
    contains(result.err, "the image 'ringfence/claude' needs a container, and the fence is 'bwrap'")
    contains(result.err, "--fence podman or --fence docker", "the remedy")
    equal(t.exists("made"), False, "whether the command ran")


def test_without_a_fence_an_image_is_refused(t):
    result = t.fence("true", opts=("--i-accept-no-fence", "--image", "a"))
    equal(result.code, 125, "exit status", result)
    contains(result.err, "the image 'a' needs a container, and the fence is 'none'")


@cases("--privileged", "a b", "a,b", "../a")
def test_what_is_not_the_name_of_an_image_is_refused(t, name):
    result = t.fence("true", opts=(f"--image={name}",))
    equal(result.code, 125, "exit status", result)
    contains(result.err, f"--image: '{name}' is not the name of an image")


def test_a_project_may_set_an_image_only_after_trust(t):
    t.write("ringfence.yml", "image: ringfence/claude\n")
    result = t.fence("true")
    equal(result.code, 0, "exit status before trust", result)
    contains(result.err, "ringfence.yml widens the fence (image), which is inactive", "the notice")
    result = ringfence(t, "trust", "--yes")
    contains(result.out, "come from ringfence/claude", "what the value means")
    result = t.fence("true")
    equal(result.code, 125, "exit status after trust", result)
    contains(result.err, "the image 'ringfence/claude' needs a container")


def test_the_image_none_takes_back_what_a_file_sets(t):
    t.at_home(".config/ringfence/config.yml", "image: ringfence/claude\n")
    equal(t.fence("true").code, 125, "exit status with the file")
    equal(t.fence("true", opts=("--image", "none")).code, 0, "exit status with --image none")


def test_a_report_names_no_image_without_one(t):
    _, report = t.report("true")
    equal((report["mechanism"], report["image"]), ("bwrap", None), "mechanism and image")
    policy = json.loads(ringfence(t, "policy", "--json").out)
    equal((policy["mechanism"], policy["image"]), ("bwrap", None), "mechanism and image of the policy")
