"""Word lists that reveal the effect of a tool. This module is data only.

Rules kept here:
1. Every word is in exactly one list. `NOUNS` marks words that are as often nouns ("get_post", "list_orders"): these
   count only as the leading word.
2. Running arbitrary code, transferring money, and everything irreversible is destructive.
3. A missing word only costs the reviewer a question: a tool without signs never counts as reading.
"""

from typing import Final

READ: Final = """
    get list search find read fetch retrieve describe show view lookup query count check verify validate inspect browse
    explain analyze analyse summarize summarise compare calculate compute estimate preview display ping whoami diff ls
    cat grep stat scan detect extract parse translate identify recommend suggest predict screenshot snapshot enumerate
    peek explore obtain subtract multiply divide decode encode hash classify transcribe measure assess

    lesen liest auflisten listet suchen sucht abrufen ruft holen holt anzeigen zeigt prüfen prüft finden findet liefert
    ermitteln ermittelt berechnen berechnet
    lire lit lister liste rechercher recherche chercher cherche obtenir obtient récupérer récupère afficher affiche
    trouver trouve consulter vérifier vérifie calculer calcule renvoie retourne
    leer lee listar lista buscar busca obtener obtiene consultar consulta mostrar muestra encontrar encuentra recuperar
    recupera verificar verifica calcular calcula devuelve
"""
READ_IN_TEXT: Final = "return provide give tell look determine"
"""Verbs that read in a description. In a name they may do anything: `return_item`, `give_feedback`."""

WRITE: Final = """
    create add update edit modify write set send insert upload publish deploy install enable disable assign unassign
    append attach detach rename move copy import save store register subscribe unsubscribe upsert put patch configure
    submit reply respond invite join leave approve reject start stop pause resume restart run schedule trigger invoke
    call launch apply commit push merge fork star unstar tag label comment post order book share like follow unfollow
    vote mark pin unpin lock unlock click tap type fill press hover drag scroll navigate goto open close toggle switch
    generate make build compile render draw record capture download export sync migrate clone checkout stage rebase
    stash notify alert email message log track archive unarchive hide grant allow mute unmute block unblock connect
    disconnect link replace change adjust increase decrease increment decrement init initialize setup provision
    allocate scale promote demote transition escalate acknowledge remember memorize request reserve complete finish
    swipe hire enroll pull fix refactor sign upgrade checkin
    activate deactivate regenerate rotate resize backup touch ingest prepend incr decr dismiss snooze confirm
    dispatch mutate transform donate swap trade redeem bid claim mint

    erstellen erstellt erstelle anlegen legt aktualisieren aktualisiert ändern ändert bearbeiten bearbeitet hinzufügen
    fügt schreiben schreibt senden sendet speichern speichert hochladen veröffentlichen veröffentlicht setzen setzt
    verschieben verschiebt umbenennen installieren installiert starten startet stoppen stoppt
    créer crée ajouter ajoute modifier modifie mettre écrire écrit envoyer envoie enregistrer enregistre publier publie
    téléverser déplacer déplace renommer renomme installer installe démarrer démarre arrêter arrête
    crear crea agregar agrega añadir añade actualizar actualiza modificar modifica editar edita escribir escribe enviar
    envía guardar guarda publicar publica subir sube mover mueve renombrar instalar instala
"""
DESTRUCTIVE: Final = """
    delete remove destroy erase purge wipe drop truncate kill terminate uninstall overwrite revoke reset clear flush
    shred nuke rm rmdir del unlink prune discard expunge evict ban kick decommission deprovision teardown cancel
    unpublish forget execute exec eval shell bash sudo powershell rollback revert restore shutdown reboot reimage pay
    buy sell withdraw purchase transfer refund charge trash empty void dispose obliterate annihilate

    löschen löscht lösche entfernen entfernt entferne vernichten vernichtet überschreiben überschreibt zurücksetzen
    deinstallieren deinstalliert widerrufen widerruft leeren leert beenden beendet stornieren storniert ausführen
    supprimer supprime effacer efface détruire détruit écraser écrase révoquer révoque désinstaller désinstalle vider
    annuler annule réinitialiser réinitialise exécuter
    eliminar elimina borrar borra destruir destruye sobrescribir sobrescribe revocar revoca desinstalar desinstala
    vaciar cancelar cancela restablecer restablece ejecutar ejecuta
"""
NOUNS: Final = """
    set import store reply invite start stop run schedule trigger call commit merge fork star tag label comment post
    order book share like vote mark pin lock type press drag scroll open close switch make build record capture
    download export sync clone checkout stage stash alert email message log track archive block link change scale
    request complete pull fix sign copy push patch upload pause launch transition hire upgrade backup touch claim bid
    mint donate swap trade transform
    transfer refund charge purchase trash empty void rollback
"""

STEMS: Final = {
    "delet": "delete",
    "remov": "remove",
    "destroy": "destroy",
    "purge": "purge",
    "truncat": "truncate",
    "uninstall": "uninstall",
    "terminat": "terminate",
    "overwrit": "overwrite",
    "revok": "revoke",
    "unpublish": "unpublish",
    "decommission": "decommission",
}
"""Stems that are part of no harmless word, so they count inside others as well: `deletefile`, `bulkRemoval`."""

READ_SIGNS: Final = "获取 查询 列出 搜索 读取 查看 检索 显示 返回 取得 一覧 検索 読み取 読み込 参照 確認 表示"
WRITE_SIGNS: Final = (
    "创建 新建 更新 修改 添加 新增 发送 设置 上传 写入 编辑 保存 发布 安装 "
    "作成 変更 追加 送信 設定 アップロード 書き込 編集 保存 公開 インストール 登録"
)
DESTRUCTIVE_SIGNS: Final = (
    "删除 移除 清空 清除 销毁 卸载 终止 覆盖 重置 撤销 取消 执行 格式化 "
    "削除 消去 破棄 上書き 初期化 アンインストール 終了 実行 取り消 リセット"
)
"""Chinese and Japanese have no spaces between words, so these count anywhere."""

PHRASES: Final = (
    "permanently", "irreversible", "irreversibly", "cannot be undone", "can't be undone", "can not be undone",
    "no undo", "arbitrary code", "arbitrary command", "shell command", "arbitrary sql", "raw sql", "factory reset",
    "unwiderruflich", "endgültig", "définitivement", "irréversible", "permanentemente", "no se puede deshacer",
    "永久", "不可恢复", "不可撤销", "无法恢复", "元に戻せ", "取り消せ",
)  # fmt: skip

FILLERS: Final = """
    a an the this that it its tool tools function command endpoint api is are be will can could may should use used
    using to for you your user users agent allow allows lets let enable enables helps help useful in order by which
    dieses das der die ein eine werkzeug cet cette un une le la les outil esta este el los herramienta permite permet
"""
"""Words that may precede the first meaningful word."""

COMPOUNDS: Final = (
    "check_in check_out pull_request pull_requests merge_request merge_requests change_request log_in log_out"
)
"""Pairs of words with another meaning than each word alone."""

JOINTS: Final = "and or then plus und oder et ou y o"
"""Words after which another leading word may follow: `get_or_post`."""

RUNNERS: Final = "run execute exec eval evaluate invoke launch start call"
RUN: Final = "command commands cmd code script scripts shell sql program snippet javascript js python function terminal"
"""Objects that are arbitrary code: running one runs whatever it contains."""

CODE_PARAMETERS: Final = "command cmd sql shell bash script"
PLACE_PARAMETERS: Final = "path file filename filepath"
CONTENT_PARAMETERS: Final = "content contents data"
FORCE_PARAMETERS: Final = "force overwrite cascade permanent permanently"
CHOICE_PARAMETERS: Final = "action operation method mode op verb"

THINGS: Final = """
    file files folder folders directory dir table tables database db user users account record records row rows
    process processes project projects page pages issue issues event events item items message messages image images
    document documents container containers cluster instance bucket key keys task tasks note notes repo branch data
    all index entity entities relation relations node nodes
"""
"""Nouns that a verb may be joined with: `dropdatabase`, `listfiles`."""
