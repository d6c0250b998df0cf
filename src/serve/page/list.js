// A list of many rows of one height, of which only those near the screen are elements. The window
// scrolls; the list has the height of all rows.
import {embed, h, show} from './dom.js';

const BEYOND = 12; // rows above and below the screen

const lists = new Set();
let scheduled = false;

function drawAll() {
	scheduled = false;
	for (const list of lists) if (list.node.isConnected) list.draw();
}

function schedule() {
	if (!scheduled) requestAnimationFrame(drawAll);
	scheduled = true;
}

addEventListener('scroll', schedule, {passive: true});
addEventListener('resize', schedule);

export class List {
	/**
	 * label: what the rows are. row(index): returns {key, cells}, the cells of a row. columns: the
	 * titles; a column without a title has only a description.
	 */
	constructor({label, className, columns, row}) {
		this.row = row;
		this.columns = columns;
		this.count = 0;
		this.body = h('div', {class: 'list-body', role: 'rowgroup', 'data-own': true});
		this.node = h(
			'div',
			{
				class: `list ${className}`,
				role: 'table',
				'aria-label': label,
				'data-own': true,
				key: label,
			},
			h(
				'div',
				{role: 'rowgroup', class: 'list-head'},
				h(
					'div',
					{class: 'row', role: 'row', 'aria-rowindex': 1},
					columns.map(({title, about, name}) =>
						h(
							'span',
							{role: 'columnheader', class: name, 'aria-label': about},
							title || '',
						),
					),
				),
			),
			this.body,
		);
		lists.add(this);
	}

	close() {
		lists.delete(this);
	}

	/** Returns what stands for the list in a drawing. */
	element() {
		return embed(this.node);
	}

	/** The height of a row, which the style sheet decides. */
	get height() {
		return parseFloat(getComputedStyle(this.node).getPropertyValue('--row')) || 40;
	}

	/** Returns the first row on the screen and the one after the last. */
	range() {
		const height = this.height;
		const top = -this.body.getBoundingClientRect().top;
		const first = Math.floor(top / height) - BEYOND;
		const last = Math.ceil((top + innerHeight) / height) + BEYOND;

		return [Math.max(0, Math.min(first, this.count)), Math.max(0, Math.min(last, this.count))];
	}

	/** Draws the rows near the screen. */
	draw(count = this.count) {
		const height = this.height;

		this.count = count;
		this.node.setAttribute('aria-rowcount', count + 1);
		this.body.style.height = `${count * height}px`;
		const [first, last] = this.range();
		const rows = [];
		for (let i = first; i < last; i++) rows.push(this.rowOf(i));
		show(this.body, rows);
		// Positions are properties, which the policy of the page permits, not attributes.
		for (const element of this.body.children)
			element.style.transform = `translateY(${(element.getAttribute('aria-rowindex') - 2) * height}px)`;
	}

	rowOf(index) {
		const {key, cells, className} = this.row(index);

		return h(
			'div',
			{
				class: `row ${className || ''}`,
				role: 'row',
				'aria-rowindex': index + 2,
				key: key || `row ${index}`,
			},
			cells.map((cell, i) => h('span', {role: 'cell', class: this.columns[i].name}, cell)),
		);
	}
}

/** Moves the focus among the elements that a selector finds. */
export function step(selector, by) {
	const all = [...document.querySelectorAll(selector)];
	const at = all.indexOf(document.activeElement);
	const next =
		all[
			at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.max(0, Math.min(all.length - 1, at + by))
		];

	if (next) next.focus();
}
