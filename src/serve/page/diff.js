// The difference of one file: read when it is needed, and drawn in parts.
import {get} from './api.js';
import {embed, h, show} from './dom.js';
import {instead} from './parts.js';
import {figure, plural} from './text.js';

const AT_ONCE = 400; // lines that are shown at first
const MORE = 5000; // lines that a click adds
const LARGE = 3000; // changed lines of a file that is read only after a click
const WIDE = 2000; // characters of a line

// Returns the lines of a patch: {kind, old, fresh, text}; the heads of files are left out.
function parsePatch(patch) {
	const found = [];
	let old = 0,
		fresh = 0,
		inside = false;

	for (const text of patch.replace(/\n$/, '').split('\n')) {
		const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(text);

		if (hunk) {
			[old, fresh, inside] = [Number(hunk[1]), Number(hunk[2]), true];
			found.push({kind: 'hunk', text});
		} else if (text.startsWith('diff --git ')) {
			inside = false;
		} else if (!inside) {
			if (/^(old mode|new mode|similarity|rename|Binary|GIT binary)/.test(text))
				found.push({kind: 'note', text});
		} else if (text.startsWith('+')) {
			found.push({kind: 'add', fresh: fresh++, text});
		} else if (text.startsWith('-')) {
			found.push({kind: 'remove', old: old++, text});
		} else if (text.startsWith('\\')) {
			found.push({kind: 'note', text: text.slice(2)});
		} else {
			found.push({kind: 'same', old: old++, fresh: fresh++, text});
		}
	}
	return found;
}

function lineNode(line) {
	const long = line.text.length > WIDE;

	return h(
		'div',
		{class: `diff-line ${line.kind}`},
		h('span', {class: 'at'}, line.old),
		h('span', {class: 'at'}, line.fresh),
		h(
			'code',
			{},
			long ? line.text.slice(0, WIDE) : line.text,
			long && h('em', {}, ` … ${figure(line.text.length - WIDE)} more characters`),
		),
	);
}

let count = 0;

/** The difference of a changed file of a loop. */
export class Diff {
	constructor(loop, change) {
		this.loop = loop;
		this.change = change;
		this.large = change.added + change.removed > LARGE; // not read until the user asks
		this.shown = AT_ONCE;
		this.state = null; // null, 'reading', an error, or the lines
		// Each has an element of its own, also for the same path.
		this.body = h('div', {class: 'diff', 'data-own': true, key: `diff ${count++}`});
		this.draw();
	}

	/** Returns what stands for it in a drawing. */
	element() {
		return embed(this.body);
	}

	async read() {
		if (this.state) return;
		this.state = 'reading';
		this.draw();
		try {
			const answer = await get(`/api/loops/${this.loop}/diff`, {path: this.change.path});

			this.state = parsePatch(answer.patch);
			this.cut = answer.cut;
		} catch (error) {
			this.state = error;
		}
		this.draw();
	}

	draw() {
		if (this.state === null)
			show(
				this.body,
				this.large &&
					h(
						'p',
						{class: 'more'},
						h(
							'button',
							{type: 'button', onclick: () => this.read()},
							`Show ${plural(this.change.added + this.change.removed, 'changed line')}`,
						),
					),
			);
		else if (!Array.isArray(this.state))
			show(
				this.body,
				instead(this.state === 'reading' ? null : this.state, 'the difference'),
			);
		else this.drawLines();
	}

	drawLines() {
		const rest = this.state.length - this.shown;

		show(
			this.body,
			h(
				'div',
				{
					class: 'code',
					tabindex: 0,
					role: 'region',
					'aria-label': `Difference of ${this.change.path}`,
				},
				this.state.length
					? h('div', {class: 'code-lines'}, this.state.slice(0, this.shown).map(lineNode))
					: h(
							'p',
							{class: 'dim more'},
							this.change.binary ? 'A binary file.' : 'Its content is the same.',
						),
			),
			rest > 0 &&
				h(
					'p',
					{class: 'more'},
					h(
						'button',
						{
							type: 'button',
							onclick: () => {
								this.shown += MORE;
								this.drawLines();
							},
						},
						`Show ${plural(Math.min(rest, MORE), 'more line')}`,
					),
				),
			rest <= 0 &&
				this.cut &&
				h(
					'p',
					{class: 'dim more'},
					'The rest is not shown. To read it: ',
					h('code', {}, `ringfence diff --loop ${this.loop}`),
				),
		);
	}
}
