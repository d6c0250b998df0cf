// sources: src/snapshot/generated.c src/snapshot/store/manifest.c src/snapshot/store/node.c
/* Checkpoint manifests, read onto a tree. */
#include "fuzz.h"

#include "snapshot/store/manifest.h"

#include <stdlib.h>

/* Builds a tree with a file, a program, a link, and a folder that contains a file. */
static void make_tree(struct node *root)
{
	static const char *const names[] = { "a", "d", "link", "run" };
	static const enum node_kind kinds[] = { NODE_FILE, NODE_FOLDER, NODE_LINK, NODE_FILE };

	*root = (struct node){ .kind = NODE_FOLDER };
	for (int i = 0; i < 4; i++) {
		struct node *node = node_add(root);

		node->name = names[i];
		node->kind = kinds[i];
		node->mode = i == 3 ? 0755 : 0644;
	}
	*node_add(&root->inner[1]) = (struct node){ .name = "b", .kind = NODE_FILE, .mode = 0644 };
}

static int find(void *context, const char *path, struct node **ret_folder, struct error *err)
{
	struct node *node = node_at(context, path);

	(void)err;
	*ret_folder = node && node->kind == NODE_FOLDER ? node : NULL;
	return 0;
}

void fuzz_manifest(const uint8_t *data, size_t size)
{
	AUTO_BUFFER struct buffer out = BUFFER_INIT(1 << 24);
	struct node root;
	struct error err;

	make_tree(&root);
	if (manifest_read((const char *)data, size, &root, find, &root, &err) == 0) {
		if (root.count < 4 || root.inner[0].mode > 07777)
			abort();
		manifest_write(&root, NULL, &out);
		if (buffer_overflowed(&out) || out.data[out.used - 1])
			abort();
	}
	node_release(&root);
}

FUZZ_TARGET(fuzz_manifest)
