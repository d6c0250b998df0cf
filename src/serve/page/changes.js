// What a loop has changed: a list of files, and their differences, which are read when they come
// near the screen.
import {runAction} from './action.js';
import {get} from './api.js';
import {embed, h, memo, show} from './dom.js';
import {step} from './list.js';
import {instead, lines} from './parts.js';
import {toLoop} from './route.js';
import {store} from './store.js';
import {figure, plural} from './text.js';

const AT_ONCE = 400; // lines of a difference that are shown at first
const MORE = 5000; // lines that a click adds
const LARGE = 3000; // changed lines of a file that is read only after a click
const WIDE = 2000; // characters of a line
const NEAR = '600px';
const FILES = 1000; // that are listed

const LETTERS = {added: 'A', deleted: 'D', modified: 'M', renamed: 'R'};
const TONES = {added: 'good', deleted: 'bad', modified: 'warn', renamed: 'live'};

/** Returns the lines of a patch: {kind, old, fresh, text}; the heads of files are left out. */
export function parsePatch(patch) {
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

let bodies = 0;

// One file, which reads its difference when it is needed.
class File {
	constructor(id, change, number) {
		this.id = id;
		this.change = change;
		this.number = number;
		this.shown = AT_ONCE;
		// Another file with the same path gets an element of its own.
		this.body = h('div', {class: 'diff', 'data-own': true, key: `body ${bodies++}`});
		this.wanted = change.added + change.removed <= LARGE;
		this.state = null; // null, 'reading', an error, or the lines
	}

	async read() {
		if (this.state) return;
		this.state = 'reading';
		this.draw();
		try {
			const answer = await get(`/api/loops/${this.id}/diff`, {path: this.change.path});

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
				!this.wanted &&
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
					h('code', {}, `ringfence diff --loop ${this.id}`),
				),
		);
	}

	element() {
		const {change} = this;

		return h(
			'section',
			{
				class: 'file',
				key: change.path,
				id: `file-${this.number}`,
				'data-number': this.number,
			},
			h(
				'h3',
				{},
				h(
					'a',
					{class: 'file-link', href: toLoop(this.id, 'changes', {path: change.path})},
					h(
						'span',
						{class: `letter ${TONES[change.status]}`, title: change.status},
						LETTERS[change.status] || '?',
					),
					h('code', {}, change.from ? `${change.from} → ${change.path}` : change.path),
				),
				lines(change),
			),
			embed(this.body),
		);
	}
}

export function changes(data, route, redraw) {
	const {id} = data;
	const filesPart = memo('diffs');
	let told = null,
		error = null,
		files = [],
		fresh = false, // the files have not been drawn yet
		wanted = route.query.get('path');
	const watcher = new IntersectionObserver(
		(entries) =>
			entries.forEach((entry) => {
				const file = files[entry.target.dataset.number];

				if (entry.isIntersecting && file && file.wanted) file.read();
			}),
		{rootMargin: NEAR},
	);

	async function read() {
		try {
			const before = JSON.stringify(told && told.changes);

			told = await get(`/api/loops/${id}/changes`);
			if (before !== JSON.stringify(told.changes)) {
				files = told.changes.slice(0, FILES).map((change, i) => new File(id, change, i));
				fresh = true;
			}
			error = null;
		} catch (failure) {
			error = failure;
		}
		redraw();
	}

	function apply() {
		const action = store.loop && store.loop.actions.find(({name}) => name === 'apply');

		return (
			action &&
			h(
				'button',
				{type: 'button', class: 'primary', onclick: () => runAction(id, action)},
				'Review and apply …',
			)
		);
	}

	function contents() {
		return h(
			'nav',
			{class: 'contents', 'aria-label': 'Changed files'},
			h(
				'ol',
				{},
				files.map(({change}) =>
					h(
						'li',
						{key: change.path},
						h(
							'a',
							{href: toLoop(id, 'changes', {path: change.path})},
							h(
								'span',
								{class: `letter ${TONES[change.status]}`, title: change.status},
								LETTERS[change.status] || '?',
							),
							h('span', {class: 'name'}, change.path),
						),
						lines(change),
					),
				),
			),
		);
	}

	function sum(name) {
		return told.changes.reduce((count, change) => count + (change[name] || 0), 0);
	}

	read();
	return {
		go(to) {
			wanted = to.query.get('path');
		},
		draw() {
			if (!told) return instead(error, 'the changes');
			if (!told.changes.length)
				return h('p', {class: 'dim'}, told.unknown || 'Nothing has changed.');
			return h(
				'section',
				{key: 'changes'},
				h(
					'div',
					{class: 'steps'},
					h(
						'h2',
						{},
						plural(told.changes.length, 'changed file'),
						' ',
						lines({added: sum('added'), removed: sum('removed')}),
					),
					apply(),
				),
				told.changes.length > FILES &&
					h('p', {class: 'dim'}, `The first ${figure(FILES)} are listed.`),
				error && instead(error),
				filesPart(
					() => [
						contents(),
						h(
							'div',
							{class: 'files'},
							files.map((file) => file.element()),
						),
					],
					files,
				),
			);
		},
		drawn() {
			if (fresh) {
				// To observe an element again tells again whether it is near the screen.
				watcher.disconnect();
				for (const element of document.querySelectorAll('.file')) watcher.observe(element);
				files.forEach((file) => file.draw());
				fresh = false;
			}
			if (wanted && files.length) {
				const element = document.getElementById(
					`file-${files.findIndex((file) => file.change.path === wanted)}`,
				);

				if (element) element.scrollIntoView();
				wanted = null;
			}
		},
		changed(event) {
			if (event === 'journal') read();
		},
		keys: () => [
			{key: 'j', about: 'next file', run: () => step('.file-link', 1)},
			{key: 'k', about: 'previous file', run: () => step('.file-link', -1)},
			{key: 'g', about: 'to the top', run: () => scrollTo(0, 0)},
			{key: 'G', about: 'to the end', run: () => scrollTo(0, document.body.scrollHeight)},
		],
		close: () => watcher.disconnect(),
	};
}
