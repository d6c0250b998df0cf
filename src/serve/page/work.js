// What the agents of a loop did: tools with their targets, files, hosts, denials, resources.
import {get} from './api.js';
import {h} from './dom.js';
import {instead, table} from './parts.js';
import {bytes, duration, figure, plural} from './text.js';

const MOST = 200; // rows of a table

function part(title, count, content) {
	return (
		count > 0 &&
		h(
			'section',
			{key: title},
			h('h2', {}, title, h('span', {class: 'count'}, figure(count))),
			content(),
			count > MOST && h('p', {class: 'dim'}, `${figure(count - MOST)} more are not shown.`),
		)
	);
}

function tools(told) {
	return part('Tools', told.tools.length, () =>
		h(
			'div',
			{class: 'tools'},
			told.tools.slice(0, MOST).map((tool) =>
				h(
					'details',
					{key: tool.tool},
					h(
						'summary',
						{},
						h('strong', {}, tool.tool),
						' ',
						plural(tool.count, 'call'),
						tool.failed > 0 &&
							h('span', {class: 'bad'}, `, ${figure(tool.failed)} failed`),
					),
					h(
						'ul',
						{class: 'paths'},
						tool.targets
							.slice(0, MOST)
							.map(({target, count}) =>
								h(
									'li',
									{},
									h('code', {}, target),
									count > 1 && h('span', {class: 'dim'}, ` ×${figure(count)}`),
								),
							),
					),
				),
			),
		),
	);
}

export function work(data, route, redraw) {
	let told = null,
		error = null;

	async function read() {
		try {
			told = await get(`/api/loops/${data.id}/tools`);
			error = null;
		} catch (failure) {
			error = failure;
		}
		redraw();
	}

	read();
	return {
		draw() {
			if (!told) return instead(error, 'the transcripts');
			return [
				error && instead(error),
				h(
					'dl',
					{class: 'figures', key: 'figures'},
					h('div', {}, h('dt', {}, 'CPU time'), h('dd', {}, duration(told.cpu_ms))),
					h('div', {}, h('dt', {}, 'most memory'), h('dd', {}, bytes(told.peak_bytes))),
					h(
						'div',
						{},
						h('dt', {}, 'tool calls'),
						h('dd', {}, figure(told.tools.reduce((sum, tool) => sum + tool.count, 0))),
					),
					h(
						'div',
						{},
						h('dt', {}, 'denials'),
						h(
							'dd',
							{},
							figure(told.denials.reduce((sum, denial) => sum + denial.count, 0)),
						),
					),
				),
				told.unread > 0 &&
					h(
						'p',
						{class: 'dim'},
						`${plural(told.unread, 'older transcript')} not read: together they are too large.`,
					),
				told.untold > 0 &&
					h(
						'p',
						{class: 'dim'},
						`${plural(told.untold, 'transcript')} of agents that print plain text, which does not tell their tools.`,
					),
				tools(told),
				part('Files that tools changed', told.files.length, () =>
					table(
						'Files',
						[{title: 'file'}, {title: 'times', number: true}],
						told.files
							.slice(0, MOST)
							.map((file) => [h('code', {}, file.path), figure(file.count)]),
					),
				),
				part('Hosts', told.hosts.length, () =>
					table(
						'Hosts',
						[
							{title: 'host'},
							{title: 'connections', number: true},
							{title: 'refused', number: true},
							{title: 'received', number: true},
							{title: 'sent', number: true},
						],
						told.hosts
							.slice(0, MOST)
							.map((host) => [
								h('code', {}, host.host),
								figure(host.connections),
								h(
									'span',
									{class: host.refusals > 0 && 'warn'},
									figure(host.refusals),
								),
								bytes(host.bytes_in),
								bytes(host.bytes_out),
							]),
					),
				),
				part('Denials', told.denials.length, () =>
					table(
						'Denials',
						[{title: 'denied'}, {title: 'rule'}, {title: 'times', number: true}],
						told.denials
							.slice(0, MOST)
							.map((denial) => [
								h('code', {}, denial.denied),
								denial.rule,
								figure(denial.count),
							]),
					),
				),
				!told.tools.length &&
					!told.files.length &&
					!told.hosts.length &&
					!told.denials.length &&
					h(
						'p',
						{class: 'dim', key: 'none'},
						"Nothing is known of the agents' tools yet.",
					),
			];
		},
		changed(event) {
			if (event === 'journal') read();
		},
	};
}
