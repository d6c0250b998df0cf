// Elements. A view describes how it should look as a new tree; update() changes the old tree where
// they differ, so that focus, selections and scroll positions stay.
//
// Markup is never parsed: texts become text nodes, after visible() has shown what is hidden in them.
import {visible} from './text.js';

const SVG = 'http://www.w3.org/2000/svg';

// Their values are the user's, once the element is there.
const KEPT = new Set(['open', 'value', 'checked']);

function setAttribute(node, name, value) {
	if (value === undefined || value === null || value === false) return;
	if (name.startsWith('on'))
		node[name] = value; // a property, so that update() can replace it
	else if (name === 'href' && !/^(#|\/(?![/\\]))/.test(value))
		node.setAttribute('href', '#'); // a link never leaves the page
	else node.setAttribute(name, value === true ? '' : visible(String(value)));
}

function add(node, child) {
	if (Array.isArray(child)) child.forEach((each) => add(node, each));
	else if (child instanceof Node) node.append(child);
	else if (child !== undefined && child !== null && child !== false)
		node.append(visible(String(child)));
}

function build(node, attributes, children) {
	for (const [name, value] of Object.entries(attributes || {})) setAttribute(node, name, value);
	add(node, children);
	return node;
}

/**
 * Makes an element: h('a', {href: '#/', class: 'brand'}, 'Ringfence'). Attributes and children that
 * are null, undefined or false are left out; children may be lists. The attribute `key` tells
 * update() which of the elements beside each other is which.
 */
export function h(name, attributes, ...children) {
	return build(document.createElement(name), attributes, children);
}

export function svg(name, attributes, ...children) {
	return build(document.createElementNS(SVG, name), attributes, children);
}

const HANDLERS = ['onclick', 'onkeydown', 'oninput', 'onchange', 'onsubmit', 'ontoggle', 'onfocus'];

function copyAttributes(old, fresh) {
	for (const {name} of [...old.attributes])
		if (!fresh.hasAttribute(name) && !KEPT.has(name)) old.removeAttribute(name);
	for (const {name, value} of fresh.attributes)
		if (!KEPT.has(name) && old.getAttribute(name) !== value) old.setAttribute(name, value);
	for (const name of HANDLERS) if (old[name] !== fresh[name]) old[name] = fresh[name];
}

function keyOf(node) {
	return node.nodeType === Node.ELEMENT_NODE ? node.getAttribute('key') : null;
}

function areAlike(old, fresh) {
	return old.nodeName === fresh.nodeName && keyOf(old) === keyOf(fresh);
}

// Makes an old tree like a fresh one, which is used up. Both have the same root.
function update(old, fresh) {
	if (old.nodeType === Node.TEXT_NODE) {
		if (old.data !== fresh.data) old.data = fresh.data;
		return;
	}
	if (fresh.hasAttribute('data-own')) return;
	copyAttributes(old, fresh);
	updateChildren(old, [...fresh.childNodes]);
}

/** Returns what stands in a tree for an element that its own code fills; it has `data-own`. */
export function embed(node) {
	return node.isConnected ? node.cloneNode(false) : node;
}

// Elements that stay are not moved if their order stays: a moved element loses the focus.
function updateChildren(parent, children) {
	const wanted = new Set(children.map(keyOf));
	const keyed = new Map();

	for (const node of [...parent.childNodes])
		if (keyOf(node) !== null && !wanted.has(keyOf(node))) node.remove();
		else if (keyOf(node) !== null) keyed.set(keyOf(node), node);
	let at = parent.firstChild;
	for (const fresh of children) {
		const known = keyed.get(keyOf(fresh));

		if (known && known !== at && areAlike(known, fresh)) {
			parent.insertBefore(known, at);
			at = known;
		}
		if (at && at !== fresh && areAlike(at, fresh)) {
			update(at, fresh);
			at = at.nextSibling;
		} else if (at === fresh) {
			at = at.nextSibling;
		} else {
			parent.insertBefore(fresh, at);
		}
	}
	while (at) {
		const next = at.nextSibling;

		at.remove();
		at = next;
	}
}

/**
 * Returns a function that draws a large part of a view, and draws it again only if one of the values
 * it shows is another one: part(content, ...values).
 */
export function memo(name) {
	const node = h('div', {class: name, key: name, 'data-own': true});
	let last = null;

	return (content, ...values) => {
		if (!last || values.some((value, i) => value !== last[i])) show(node, content());
		last = values;
		return embed(node);
	};
}

/** Makes the children of an element like these. */
export function show(parent, ...children) {
	const holder = document.createElement(parent.nodeName);

	add(holder, children);
	updateChildren(parent, [...holder.childNodes]);
}
