// What a loop has changed: a list of files, and their differences, which are read when they come
// near the screen.
import {runAction} from './action.js';
import {get} from './api.js';
import {Diff} from './diff.js';
import {h, memo} from './dom.js';
import {step} from './list.js';
import {instead, lines} from './parts.js';
import {toLoop} from './route.js';
import {store} from './store.js';
import {figure, plural} from './text.js';

const NEAR = '600px';
const FILES = 1000; // that are listed

const LETTERS = {added: 'A', deleted: 'D', modified: 'M', renamed: 'R'};
const TONES = {added: 'good', deleted: 'bad', modified: 'warn', renamed: 'live'};

function letter({status}) {
	return h('span', {class: `letter ${TONES[status]}`, title: status}, LETTERS[status] || '?');
}

function fileNode(loop, diff, number) {
	const {change} = diff;

	return h(
		'section',
		{class: 'file', key: change.path, id: `file-${number}`, 'data-number': number},
		h(
			'h3',
			{},
			h(
				'a',
				{class: 'file-link', href: toLoop(loop, 'changes', {path: change.path})},
				letter(change),
				h('code', {}, change.from ? `${change.from} → ${change.path}` : change.path),
			),
			lines(change),
		),
		diff.element(),
	);
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

				if (entry.isIntersecting && file && !file.large) file.read();
			}),
		{rootMargin: NEAR},
	);

	async function read() {
		try {
			const before = JSON.stringify(told && told.changes);

			told = await get(`/api/loops/${id}/changes`);
			if (before !== JSON.stringify(told.changes)) {
				files = told.changes.slice(0, FILES).map((change) => new Diff(id, change));
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
							letter(change),
							h('span', {class: 'name'}, change.path),
						),
						lines(change),
					),
				),
			),
		);
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
						plural(told.changes.length + told.more, 'changed file'),
						' ',
						lines(told),
					),
					apply(),
				),
				told.changes.length + told.more > FILES &&
					h('p', {class: 'dim'}, `The first ${figure(FILES)} are listed.`),
				error && instead(error),
				filesPart(
					() => [
						contents(),
						h(
							'div',
							{class: 'files'},
							files.map((file, i) => fileNode(id, file, i)),
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
